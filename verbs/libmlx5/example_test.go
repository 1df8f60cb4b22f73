package libmlx5_test

import (
	"fmt"
	"log"

	"uverbsim/drivers/mlx5"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// A first program: boot a machine with an mlx5 device, open it, and create a
// completion queue.
func Example() {
	machine := kernel.NewMachine(methods.Core())
	if _, err := mlx5.New(machine, mlx5.Config{}); err != nil {
		log.Fatal(err)
	}
	proc := machine.NewProcess(process.Options{})
	ctx, err := libmlx5.OpenDevice(proc, "/dev/infiniband/uverbs0")
	if err != nil {
		log.Fatal(err)
	}
	cq, err := ctx.CreateCQ(&libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 200}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(cq.CQE)
	// Output: 255
}

// Two queue pairs of one program are connected, and a message goes from one to
// the other.
func ExampleQP_PostSend() {
	machine := kernel.NewMachine(methods.Core())
	device, err := mlx5.New(machine, mlx5.Config{Profile: hw.ConnectX6Dx})
	check(err)
	proc := machine.NewProcess(process.Options{})
	ctx, err := libmlx5.OpenDevice(proc, "/dev/infiniband/uverbs0")
	check(err)
	pd, err := ctx.AllocPD()
	check(err)
	memory, err := verbs.Alloc(proc, 4096)
	check(err)
	mr, err := pd.RegMR(memory, 4096, uint64(memory), verbs.IBV_ACCESS_LOCAL_WRITE)
	check(err)
	cq, err := ctx.CreateCQ(&libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 16}})
	check(err)
	var pair [2]*libmlx5.QP
	for i := range pair {
		pair[i], err = ctx.CreateQP(&libmlx5.QPInitAttr{PD: pd, SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC,
			Cap: verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1}})
		check(err)
	}
	gid, err := ctx.QueryGID(1, 0)
	check(err)
	for i, qp := range pair {
		connect(qp, gid, pair[1-i].Num)
	}

	proc.Store(memory, []byte("hello"))
	_, err = pair[1].PostRecv(&libmlx5.RecvWR{WRID: 1, SGList: []verbs.SGE{{Addr: memory + 1024, Length: 1024, LKey: mr.LKey}}})
	check(err)
	_, err = pair[0].PostSend(&libmlx5.SendWR{WRID: 2, Opcode: verbs.IBV_WR_SEND, SendFlags: verbs.IBV_SEND_SIGNALED,
		SGList: []verbs.SGE{{Addr: memory, Length: 5, LKey: mr.LKey}}})
	check(err)
	for device.Step(nil) {
		continue
	}
	done := make([]libmlx5.WC, 4)
	n, err := cq.Poll(done)
	check(err)
	for _, wc := range done[:n] {
		fmt.Println("request", wc.WRID, "status", wc.Status)
	}
	message := make([]byte, 5)
	proc.Load(memory+1024, message)
	fmt.Printf("%s\n", message)
	// Unordered output:
	// request 1 status 0
	// request 2 status 0
	// hello
}

// connect moves a queue pair on until it can send to another one of the port.
func connect(qp *libmlx5.QP, gid [16]byte, peer uint32) {
	check(qp.Modify(&verbs.QPAttr{QPState: verbs.IBV_QPS_INIT, PortNum: 1},
		verbs.IBV_QP_STATE|verbs.IBV_QP_PKEY_INDEX|verbs.IBV_QP_PORT|verbs.IBV_QP_ACCESS_FLAGS))
	check(qp.Modify(&verbs.QPAttr{QPState: verbs.IBV_QPS_RTR, PathMTU: verbs.IBV_MTU_1024, DestQPNum: peer, MinRNRTimer: 12,
		AHAttr: verbs.AHAttr{IsGlobal: true, PortNum: 1, GRH: verbs.GlobalRoute{DGID: gid, HopLimit: 64}}},
		verbs.IBV_QP_STATE|verbs.IBV_QP_AV|verbs.IBV_QP_PATH_MTU|verbs.IBV_QP_DEST_QPN|verbs.IBV_QP_RQ_PSN|
			verbs.IBV_QP_MAX_DEST_RD_ATOMIC|verbs.IBV_QP_MIN_RNR_TIMER))
	check(qp.Modify(&verbs.QPAttr{QPState: verbs.IBV_QPS_RTS, Timeout: 14, RetryCnt: 7, RNRRetry: 7},
		verbs.IBV_QP_STATE|verbs.IBV_QP_TIMEOUT|verbs.IBV_QP_RETRY_CNT|verbs.IBV_QP_RNR_RETRY|
			verbs.IBV_QP_SQ_PSN|verbs.IBV_QP_MAX_QP_RD_ATOMIC))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
