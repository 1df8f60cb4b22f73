"""A duplicate of the device's descriptor is the same context."""
import os

from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
import loop

ctx = loop.open_device()
pd = PD(ctx)
mr = MR(pd, 4096, loop.ACCESS)
copy = os.dup(ctx.cmd_fd)
assert os.fstat(copy).st_rdev == os.fstat(ctx.cmd_fd).st_rdev != 0

imported = Context(cmd_fd=copy)
assert imported.query_port(1).state == 4
pd2 = PD(imported, handle=pd.handle)
mr2 = MR(pd2, handle=mr.handle, address=mr.buf)
assert (mr2.lkey, mr2.rkey) == (mr.lkey, mr.rkey)
pair = loop.Loop(imported, pd2)
pair.write(b'by the duplicate')

os.close(ctx.cmd_fd)  # not the last
pair.write(b'by the duplicate alone')
pair.close()
mr2.unimport()
pd2.unimport()
imported.query_device()
print('done')
os._exit(0)
