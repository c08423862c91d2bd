#!/usr/bin/env python3
"""How long a command takes from Ctrl-C to its end. Nothing in it is a test; the target is 50 ms.

    python3 tests/measure/bench_interrupts.py [--runs N] [--from S] [--to S] build/bin/lxplan "plan FILE" "bench FILE" ...

Each line of arguments runs N times (5) and is interrupted at a moment between two seconds (1 and 3) after its start, the same
moments for every program. Plans go to a file that is thrown away; "no plan": there was none at so many interrupts. Milliseconds of the
wall, median and worst, and of the processor (all threads), median: on a busy machine the wall says less. An exit code other than 130 is
named."""

import argparse
import os
import random
import shlex
import signal
import statistics
import subprocess
import tempfile
import time


def interrupted(command, seconds):
    """Milliseconds of wall and processor from the signal to the end, and the exit code."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    clock = (~process.pid << 3) | 2  # of the process, as clock_getcpuclockid makes it
    time.sleep(seconds)
    spent, start = time.clock_gettime(clock), time.perf_counter()
    os.kill(process.pid, signal.SIGINT)
    _, status, usage = os.wait4(process.pid, 0)
    end = time.perf_counter()
    process.returncode = os.waitstatus_to_exitcode(status)
    return (end - start) * 1e3, (usage.ru_utime + usage.ru_stime - spent) * 1e3, process.returncode


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--runs", type=int, default=5)
    words.add_argument("--from", type=float, default=1, dest="least")
    words.add_argument("--to", type=float, default=3)
    words.add_argument("program")
    words.add_argument("lines", nargs="+")
    asked = words.parse_args()
    print(f"{'median':>8} {'worst':>8} {'cpu':>8}  ms after Ctrl-C")
    with tempfile.TemporaryDirectory() as folder:
        for line in asked.lines:
            moments = random.Random(1)
            command = [asked.program, *shlex.split(line)]
            runs, plan, none = [], os.path.join(folder, "plan.json"), 0
            if command[1] == "plan":
                command += ["-o", plan]
            for _ in range(asked.runs):
                runs.append(interrupted(command, moments.uniform(asked.least, asked.to)))
                if command[1] == "plan":
                    none += not os.path.exists(plan)
                    os.path.exists(plan) and os.remove(plan)
            wall, cpu, codes = zip(*runs)
            others = sorted({code for code in codes if code != 130})
            print(f"{statistics.median(wall):8.1f} {max(wall):8.1f} {statistics.median(cpu):8.1f}  {line}"
                  + (f"  exit {others}" if others else "") + (f"  no plan {none}" if none else ""), flush=True)


if __name__ == "__main__":
    main()
