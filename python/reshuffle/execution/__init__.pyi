from .base import AnyExecutor as AnyExecutor
from .base import AnyWorkers as AnyWorkers
from .base import Execution as Execution
from .base import Job as Job
from .executors import NamedWorkers as NamedWorkers
from .executors import check_workers as check_workers
from .jobs import ChunkJob as ChunkJob
from .jobs import ItemJob as ItemJob
from .jobs import run_job as run_job

__all__: list[str]
