"""What a server does about its own process."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

ATTACKED = """
import threading, time
from harness.cli.serving import return_freed_memory

def resident_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 >> 20

return_freed_memory(every_s=0.01)
before = resident_mb()
left = []

def attack():
    taken = [bytes(2_000) for _ in range(20_000)]
    left.append(bytes(2_000))  # at the end of the heap, so that it can't just be shortened

attack()
threads = [threading.Thread(target=attack) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
while resident_mb() - before >= 20:  # of 115
    time.sleep(0.01)
"""


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="memory is glibc's to give back"
)
def test_memory_that_an_attack_took_goes_back() -> None:
    subprocess.run([sys.executable, "-c", ATTACKED], check=True, timeout=60)
