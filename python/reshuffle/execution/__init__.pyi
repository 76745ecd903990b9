from .base import AnyExecutor as AnyExecutor
from .base import Execution as Execution
from .base import Job as Job
from .executors import check_executor as check_executor
from .executors import opened as opened
from .items import ChunkJob as ChunkJob
from .items import ItemJob as ItemJob
from .jobs import run_job as run_job

__all__: list[str]
