"""Children that crash, one after another, each with objects that are in use."""
import ctypes
import os
import resource
import signal
import sys
import time

from pyverbs.pd import PD
import loop

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
end = time.monotonic() + float(sys.argv[1])
crashes = 0
while time.monotonic() < end:
    child = os.fork()
    if child == 0:
        ctx = loop.open_device()
        pair = loop.Loop(ctx, PD(ctx))
        pair.write(b'before the crash')
        ctypes.string_at(8)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGSEGV, status
    crashes += 1
assert crashes
print('done')
