"""Two RC queue pairs of one context that talk to each other, for the scripts here."""
from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, SendWR
import pyverbs.enums as e

GID = 1
ACCESS = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ


def open_device():
    return Context(name='mlx5_0')


class Loop:
    def __init__(self, ctx, pd, size=4096):
        self.size = size
        self.cq = CQ(ctx, 16, None, None, 0)
        self.src, self.dst = MR(pd, size, ACCESS), MR(pd, size, ACCESS)
        cap = QPCap(max_send_wr=8, max_recv_wr=1, max_send_sge=1, max_recv_sge=1)
        init = QPInitAttr(qp_type=e.IBV_QPT_RC, scq=self.cq, rcq=self.cq, cap=cap, sq_sig_all=1)
        fresh = QPAttr(port_num=1)
        fresh.qp_access_flags = ACCESS
        self.qps = [QP(pd, init, fresh) for _ in range(2)]
        gid = ctx.query_gid(1, GID)
        for qp, other in (self.qps, self.qps[::-1]):
            route = GlobalRoute(dgid=gid, sgid_index=GID)
            attr = QPAttr(port_num=1)
            attr.ah_attr = AHAttr(gr=route, is_global=1, port_num=1)
            attr.dest_qp_num = other.qp_num
            attr.path_mtu = e.IBV_MTU_1024
            attr.max_rd_atomic = attr.max_dest_rd_atomic = 1
            attr.min_rnr_timer, attr.timeout, attr.retry_cnt, attr.rnr_retry = 12, 14, 7, 7
            attr.qp_access_flags = ACCESS
            qp.to_rts(attr)

    def write(self, text):
        """Carries text from one region to the other, and checks that it is there."""
        self.src.write(text, len(text))
        self.send(len(text))
        assert self.dst.read(len(text), 0) == text, self.dst.read(len(text), 0)

    def send(self, length, addr=None, rkey=None):
        wr = SendWR(opcode=e.IBV_WR_RDMA_WRITE, num_sge=1, sg=[SGE(self.src.buf, length, self.src.lkey)])
        wr.set_wr_rdma(rkey or self.dst.rkey, addr or self.dst.buf)
        self.qps[0].post_send(wr)
        while True:
            n, wcs = self.cq.poll(1)
            if n:
                assert wcs[0].status == e.IBV_WC_SUCCESS, wcs[0]
                return

    def close(self):
        for qp in self.qps:
            qp.close()
        self.src.close()
        self.dst.close()
        self.cq.close()
