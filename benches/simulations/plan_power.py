"""Whether tests have the power that ``plan`` promises: the table of docs/evidence/plans.md.

For pairs of real systems, the number of segments is planned with which their difference is detected with power .8. The
power of the test on test sets of this size, drawn from the real outputs, should then be .8, whatever the seed.

    python -m benches.simulations.plan_power --help
"""

from __future__ import annotations

import argparse
from functools import partial

from benches.data import find
from reshuffle.resampling.counting import Data
from reshuffle.settings import Resampling, Units
from reshuffle.study import plan
from reshuffle.study.material import Material
from reshuffle.study.power import power_rates, simulated_mixture
from reshuffle.study.settings import StudySettings

METRICS = ("bleu", "chrf", "ter")
POWER, LEVEL = 0.8, 0.05


def pairs(n_systems: int, n_pairs: int) -> list[tuple[int, int]]:
    """Neighbours first, then systems two apart, and so on: small differences and large ones."""
    return [(i, i + step) for step in range(1, n_systems) for i in range(0, n_systems - step, step)][:n_pairs]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benches.simulations.plan_power",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--pairs", type=int, default=10, metavar="N", help="pairs of systems (default: %(default)s)")
    parser.add_argument("--skip", type=int, default=0, metavar="N", help="leave out the first pairs (default: none)")
    parser.add_argument("--simulations", type=int, default=4000, metavar="N", help="per pair (default: %(default)s)")
    parser.add_argument("--test", default="bootstrap-both", metavar="NAME", help="(default: %(default)s)")
    given = parser.parse_args()
    files = find()
    references, outputs = files.references(), files.outputs()
    data = Data.from_arguments(references, outputs, list(METRICS))
    material = Material.from_data(data, Units(), Resampling(), [])
    settings = StudySettings(tests=(given.test,), alphas=(LEVEL,), simulations=given.simulations, seed=777)
    print(f"{given.test}, promised power {POWER}; {given.simulations} simulations, others than those of the plan")
    print("| pair | metric | difference | segments by a z-test | its power | segments planned | power |")
    print("|---|---|---|---|---|---|---|")
    for first, second in pairs(len(data.names), given.pairs)[given.skip :]:
        names = data.names[first], data.names[second]
        for pair, name in zip(material.measured((second, first)), METRICS, strict=True):
            systems = {each: outputs[each] for each in names}
            closed = partial(plan, references, systems, name, simulate=False)
            (error,) = closed().tables["errors"]
            wanted = {error.metric: abs(error.difference)}
            (of_z,) = closed(difference=wanted).tables["needed"]
            found = plan(references, systems, name, difference=wanted, sizes=of_z.size, tests=given.test)
            (planned,) = found.tables["needed"]
            sizes = of_z.size, planned.size
            if not 40 <= sizes[1] <= 4 * material.n_units:
                continue
            powers = []
            for size in sizes:
                (cell,) = simulated_mixture([pair], size, 0.5, settings)
                powers.append(next(power_rates(cell, settings)).rate)
            row = [" − ".join(names), pair.metric, f"{error.difference:+.2f}"]
            row += [f"{sizes[0]:,}", f"{powers[0]:.3f}", f"{sizes[1]:,}", f"{powers[1]:.3f}"]
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
