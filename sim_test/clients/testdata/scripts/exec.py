"""A program that becomes another keeps the device if its descriptor says so."""
import os
import subprocess
import sys

from pyverbs.device import Context
from pyverbs.pd import PD
import loop

AFTER = 'after'


def after(kept, closed):
    """What the new program does with two descriptors of the old one's."""
    try:
        os.fstat(closed)
        raise SystemExit(f'descriptor {closed} is open')
    except OSError:
        pass
    if kept >= 0:
        ctx = Context(cmd_fd=kept)
        assert ctx.query_port(1).state == 4
        pair = loop.Loop(ctx, PD(ctx))
        pair.write(b'after exec')
        pair.close()
    fresh = loop.open_device()
    pair = loop.Loop(fresh, PD(fresh))
    pair.write(b'of its own')
    pair.close()
    fresh.close()
    print('done', flush=True)
    os._exit(0)


if sys.argv[1:2] == [AFTER]:
    after(int(sys.argv[2]), int(sys.argv[3]))

ctx = loop.open_device()
pd = PD(ctx)
pair = loop.Loop(ctx, pd)
pair.write(b'before exec')
assert not os.get_inheritable(ctx.cmd_fd)
kept = os.dup(ctx.cmd_fd)
os.set_inheritable(kept, True)

# Another process becomes another program, and this one goes on.
for fd in (kept, -1):
    out = subprocess.run([sys.executable, __file__, AFTER, str(fd), str(ctx.cmd_fd)], close_fds=False, stdout=subprocess.PIPE, check=True).stdout
    assert out == b'done\n', out
pair.write(b'after the others')

# This one does.
os.execv(sys.executable, [sys.executable, __file__, AFTER, str(kept), str(ctx.cmd_fd)])
