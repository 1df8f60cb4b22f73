package demo
import ("testing";"os"
"uverbsim/drivers/mlx5"
"uverbsim/drivers/mlx5/hw"
"uverbsim/drivers/mlx5/hw/ifc"
"uverbsim/kernel"
"uverbsim/methods"
"uverbsim/process"
"uverbsim/trace"
"uverbsim/report/funcgraph"
"uverbsim/verbs"
"uverbsim/verbs/libmlx5"
"fmt"
)
func TestX(t *testing.T){
	m := kernel.NewMachine(methods.Core())
	pr := funcgraph.New(os.Stdout, funcgraph.Options{Notes:true, Inlined: true})
	dev, err := mlx5.New(m, mlx5.Config{Trace: trace.NewTask(0, pr)})
	if err!=nil {t.Fatal(err)}
	fmt.Println("=========================== OPEN")
	tt := trace.NewTask(1, pr)
	p := m.NewProcess(process.Options{Trace: tt})
	ctx, err := libmlx5.OpenDevice(p, "/dev/infiniband/uverbs0")
	if err!=nil {t.Fatal(err)}
	fmt.Println("=========================== CHANNEL")
	ch,_ := ctx.CreateCompChannel()
	fmt.Println("=========================== CQ")
	cq,err := ctx.CreateCQ(&libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 255, Channel: ch}})
	fmt.Println(err)
	fmt.Println("=========================== ARM")
	cq.ReqNotify(false)
	fmt.Println("=========================== COMPLETE")
	dev.HW.Complete(cq.CQN, hw.Completion{Opcode: ifc.MLX5_CQE_RESP_SEND, ByteCount: 64, QPN: 0x42})
	fmt.Println("=========================== STEP")
	dev.Step(tt)
	fmt.Println("=========================== GETEVENT")
	ctx.GetCQEvent(ch)
	fmt.Println("=========================== POLL")
	wc := make([]libmlx5.WC,1)
	fmt.Println(cq.Poll(wc))
	fmt.Println(wc)
	cq.AckEvents(1)
	fmt.Println("=========================== DESTROY")
	cq.Destroy()
	fmt.Println("=========================== CLOSE")
	ch.Destroy()
	ctx.Close()
}
