"""A child uses the context that it has inherited; its parent goes on."""
import os

from pyverbs.pd import PD
import loop

ctx = loop.open_device()
pd = PD(ctx)
pair = loop.Loop(ctx, pd)
pair.write(b'before')
pair.src.write(b'parent', 6)

go, wait = os.pipe()
child = os.fork()
if child == 0:
    assert ctx.query_port(1).state == 4
    ctx.query_device()
    PD(ctx).close()
    own = loop.MR(pd, 8192, loop.ACCESS)  # of the child's own memory
    own.write(b'child', 5)
    own.close()
    # The registered memory is not shared with the parent: the child has a copy.
    assert pair.src.read(6, 0) == b'parent'
    os.read(go, 1)
    assert pair.src.read(6, 0) == b'parent'
    os._exit(7)

pair.write(b'after the fork')  # what is sent is the parent's memory, not a copy
os.write(wait, b'x')
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 7, status
pair.write(b'after the child')  # whose end takes nothing from the parent
assert ctx.query_port(1).state == 4
pair.close()

# A child that outlives its parent's file holds the device open.
go, wait = os.pipe()
child = os.fork()
if child == 0:
    os.read(go, 1)
    PD(ctx).close()
    os._exit(8)
pd.close()
os.close(ctx.cmd_fd)
os.write(wait, b'x')
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 8, status
print('done')
os._exit(0)
