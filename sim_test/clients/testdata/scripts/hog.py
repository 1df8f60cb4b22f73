"""Takes all that it is given, and holds on to it until its input ends."""
import errno
import sys

from pyverbs.cq import CQ
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
import pyverbs.device as d
import loop

ctx = loop.open_device()
pd = PD(ctx)
held = [loop.Loop(ctx, pd)]


def take(make, most):
    """Returns how many there were before one was refused."""
    for n in range(most):
        try:
            held.append(make())
        except PyverbsRDMAError as err:
            assert err.error_code in (errno.ENOMEM, errno.ENOSPC), err
            return n
    return most


memory = take(lambda: d.DM(ctx, d.AllocDmAttr(length=4096)), 1000)
assert memory < 1000, 'device memory without end'
take(lambda: PD(ctx), 2000)
take(lambda: CQ(ctx, 1, None, None, 0), 500)
regions = take(lambda: MR(pd, 1 << 20, loop.ACCESS), 64)
print('full', regions, flush=True)
sys.stdin.read()
print('done', flush=True)
