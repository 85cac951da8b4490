package timeout

import (
	"testing"
	"time"
)

func TestScaled(t *testing.T) {
	defer func(was float64) { factor = was }(factor)
	if got := Scaled(time.Minute); got < time.Minute || got > most*time.Minute {
		t.Errorf("a minute becomes %s", got)
	}
	factor = 2.5
	if got := Scaled(time.Minute); got != 150*time.Second {
		t.Errorf("a minute becomes %s on a machine that is 2.5 times slower", got)
	}
}

func TestWorkIsNotDropped(t *testing.T) {
	if work(10) == work(11) {
		t.Error("the work is the same for each number of rounds")
	}
}
