"""Compares verdicts and response times with SimSo's simulation; see README.md."""

import math
import random
import subprocess
import sys

from simso.configuration import Configuration
from simso.core import Model

SETS = 200
PERIODS = [4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40]


def draw(generator):
    """Draws (execution time, period, deadline) of two to five tasks, with deadlines up to periods."""
    tasks = []
    rest = generator.uniform(0.5, 1.05)
    count = generator.randint(2, 5)
    for left in range(count, 0, -1):
        following = rest * generator.random() ** (1 / (left - 1)) if left > 1 else 0
        period = generator.choice(PERIODS)
        wcet = min(period, max(1, round((rest - following) * period)))
        deadline = period if generator.random() < 0.5 else generator.randint(wcet, period)
        tasks.append((wcet, period, deadline))
        rest = following
    if generator.random() < 0.7:
        tasks.sort(key=lambda task: task[2])
    return tasks


def simulate(tasks, scheduler):
    """Returns whether all deadlines are met, and the worst response time of each task.

    SimSo counts in cycles; one unit is a millisecond of a million cycles."""
    configuration = Configuration()
    length = 2 * math.lcm(*(period for _, period, _ in tasks))
    configuration.cycles_per_ms = 1_000_000
    configuration.duration = length * configuration.cycles_per_ms
    for rank, (wcet, period, deadline) in enumerate(tasks):
        configuration.add_task(
            name=f"task {rank}", identifier=rank, period=period, activation_date=0,
            wcet=wcet, deadline=deadline, abort_on_miss=False, data={"priority": -rank})
    configuration.add_processor(name="processor", identifier=1)
    configuration.scheduler_info.clas = scheduler
    configuration.check_all()
    model = Model(configuration)
    model.run_model()
    met, worst = True, []
    for task in model.results.tasks.values():
        unit = configuration.cycles_per_ms
        ended = [job.response_time / unit for job in task.jobs if job.response_time is not None]
        worst.append(max(ended, default=0))
        due = (length - task.task.deadline) * unit
        unended = [job for job in task.jobs if job.response_time is None]
        never = any(job.activation_date <= due for job in unended)
        met = met and not never and worst[-1] <= task.task.deadline
    return met, worst


def computed(program, policy, sets):
    """Returns the lines that the example prints."""
    text = "\n\n".join("\n".join(" ".join(map(str, task)) for task in tasks) for tasks in sets)
    done = subprocess.run([program, policy], input=text + "\n", text=True, check=True,
                          capture_output=True)
    return done.stdout.splitlines()


def compare(program, policy, scheduler, sets):
    """Returns the number of sets that differ, after printing them, and of feasible ones."""
    different, feasible = 0, 0
    lines = computed(program, policy, sets)
    assert len(lines) == len(sets)
    for tasks, line in zip(sets, lines):
        verdict, *bounds = line.split()
        met, worst = simulate(tasks, scheduler)
        agrees = met == (verdict == "feasible")
        feasible += met
        for bound, seen in zip(bounds, worst):
            if met:
                same = int(bound) == round(seen) if policy == "fixed" else int(bound) >= round(seen)
                agrees = agrees and same
        if not agrees:
            different += 1
            print(f"{policy}: {tasks}: {line}, simulated {met} {worst}")
    return different, feasible


def main():
    program = sys.argv[1]
    generator = random.Random(1973)
    sets = [draw(generator) for _ in range(SETS)]
    failed = 0
    for policy, scheduler in [("fixed", "simso.schedulers.FP"), ("edf", "simso.schedulers.EDF_mono")]:
        different, feasible = compare(program, policy, scheduler, sets)
        failed += different
        print(f"{policy}: {SETS} sets, {feasible} feasible, {different} different")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
