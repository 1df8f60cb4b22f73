"""Objects come and go while signals interrupt the calls."""
import signal

from pyverbs.cq import CQ
from pyverbs.mr import MR
from pyverbs.pd import PD
import loop

alarms = 0


def alarm(*_):
    global alarms
    alarms += 1


ctx = loop.open_device()
pd = PD(ctx)


def turn():
    """Returns the handles of what it has made."""
    second = PD(ctx)
    mr, cq = MR(pd, 4096, loop.ACCESS), CQ(ctx, 4, None, None, 0)
    handles = second.handle, mr.handle
    cq.close()
    mr.close()
    second.close()
    return handles


first = turn()
signal.signal(signal.SIGALRM, alarm)
signal.siginterrupt(signal.SIGALRM, False)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
for _ in range(500):
    # A call that was carried out twice would leave an object that nobody destroys,
    # and the handles, of which the lowest that is free is taken, would grow.
    assert turn() == first
signal.setitimer(signal.ITIMER_REAL, 0)
assert alarms > 50, alarms
pd.close()
ctx.close()
print('done')
