"""Makes and ends objects of all kinds until it is killed."""
import os

from pyverbs.pd import PD
import loop

print('going', flush=True)
while True:
    ctx = loop.open_device()
    pds = [PD(ctx) for _ in range(3)]
    for pd in pds:
        pair = loop.Loop(ctx, pd)
        for _ in range(3):
            pair.write(b'x' * 4096)
        pair.close()
    left = loop.Loop(ctx, pds[0])  # for the kernel to clean up
    os.close(os.dup(ctx.cmd_fd))
    left.close()
    ctx.close()
