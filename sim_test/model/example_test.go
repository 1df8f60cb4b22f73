package model_test

import (
	"errors"
	"fmt"

	"uverbsim/casefile"
	"uverbsim/rule"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
)

// A case is played on a machine of its own, and every answer is compared with
// the one that the case has.
func Example() {
	c, err := casefile.Unmarshal([]byte(`{"v":1,"name":"pd/twice","driver":"rxe","steps":[
		{"op":"open","fd":"f","got":{"ret":"*","errno":""}},
		{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":3},"got":{"ret":0,"errno":""}},
		{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":3},"got":{"ret":0,"errno":""}}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	r := player.Play(new(model.Model), c, player.Options{})
	fmt.Println("passed:", r.Passed())
	for i, s := range r.Steps {
		for _, d := range s.Differences {
			fmt.Printf("step %d: %v\n", i, d)
		}
		var refusal *rule.Rule
		if errors.As(s.Refused, &refusal) {
			fmt.Printf("refused by %s in %s\n", refusal.Func, refusal.File)
		}
	}
	// Output:
	// passed: false
	// step 2: ret: want 0, got -1
	// step 2: errno: want "", got EINVAL
	// refused by ib_init_ucontext in drivers/infiniband/core/uverbs_cmd.c
}
