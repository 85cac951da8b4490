package logs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func tailOf(n int64) Options { return Options{Tail: &n} }

// What is there at the beginning is shown as the options say; what comes later whole.
func TestFollow(t *testing.T) {
	follow(t, 9, tailOf(1), func(w *following) {
		w.begin("a")
		w.write("a", "one", "two")
		a := runs("a", 1)
		w.state(a)
		w.saw("a two")
		w.write("a", "three")
		w.saw("a three")

		time.Sleep(time.Hour)
		w.begin("b")
		w.write("b", "one", "two", "three")
		b := runs("b", 1)
		w.state(a, b)
		w.saw("b one", "b two", "b three")
		w.state(a, b)
		w.write("b", "four")
		w.write("a", "four")
		synctest.Wait()
		w.state(a, b)
		w.asked("a tail 1 follow", "b follow")
		w.told()
	})
}

// A pod that was elsewhere until now has a past that is not new.
func TestFollowWhatIsOldAndComesLater(t *testing.T) {
	follow(t, 9, tailOf(1), func(w *following) {
		old := runs("old", 1)
		old.Started = time.Now().Add(-time.Hour)
		w.begin("old")
		w.write("old", "one", "two")
		w.state()
		w.state(old)
		w.saw("old two")
	})
}

// What is known of a container lags behind: its next run may be read before there was a
// word of it.
func TestFollowRestartsUnheardOf(t *testing.T) {
	follow(t, 9, Options{}, func(w *following) {
		w.begin("a")
		w.write("a", "one")
		w.end("a")
		w.state(runs("a", 1))
		time.Sleep(100 * time.Millisecond)
		w.begin("a")
		w.write("a", "again")
		time.Sleep(2 * soonest)
		w.saw("a one", "a again")
		w.state(runs("a", 2))
		w.cut("a")
		w.write("a", "and again")
		time.Sleep(2 * soonest)
		w.saw("a and again")
		w.told("a broken connection reset")
	})
}

func TestFollowRestarts(t *testing.T) {
	follow(t, 9, tailOf(1), func(w *following) {
		w.begin("a")
		w.write("a", "one")
		a := runs("a", 1)
		w.state(a)
		w.write("a", "dying")
		w.end("a")
		w.saw("a one", "a dying")
		w.state(stopped(a))
		w.state(stopped(a))
		time.Sleep(time.Hour)
		w.asked("a tail 1 follow") // Its log was read to its end: nobody asks again.

		w.begin("a")
		w.write("a", "again", "and again")
		w.state(runs("a", 2))
		w.saw("a again", "a and again")
		w.asked("a since follow")
		w.end("a")
		w.state(stopped(runs("a", 2)))
		time.Sleep(time.Minute)
		w.begin("a")
		w.write("a", "a third time")
		w.state(runs("a", 3))
		w.saw("a a third time")
		w.told()
	})
}

// The log of a container that has said nothing is asked for as it was the first time; that
// of its next run whole.
func TestFollowTheSilent(t *testing.T) {
	follow(t, 9, tailOf(0), func(w *following) {
		w.begin("a")
		w.write("a", "old")
		a := runs("a", 1)
		w.state(a)
		w.cut("a")
		time.Sleep(time.Minute)
		w.saw()
		w.end("a")
		w.state(stopped(a))
		time.Sleep(time.Minute)
		w.begin("a")
		w.write("a", "new")
		w.state(runs("a", 2))
		w.saw("a new")
		w.asked("a tail 0 follow", "a tail 0 follow", "a follow")
		w.told("a broken connection reset")
	})
}

// A log that is cut off goes on where it was: no line twice, none missing, none in
// halves. Each reason is told once.
func TestFollowCutLogs(t *testing.T) {
	follow(t, 9, Options{}, func(w *following) {
		w.begin("a")
		w.state(runs("a", 1))
		var want []string
		for i := range 20 {
			for j := range 3 {
				text := fmt.Sprintf("%d.%d", i, j)
				w.write("a", text)
				want = append(want, "a "+text)
			}
			w.cut("a")
			w.write("a", fmt.Sprint(i, " while away"))
			want = append(want, fmt.Sprint("a ", i, " while away"))
			time.Sleep(2 * soonest)
		}
		w.saw(want...)
		w.told("a broken connection reset")
	})
}

// A server that does not keep a log open is asked ever more seldom.
func TestFollowBacksOff(t *testing.T) {
	follow(t, 9, Options{}, func(w *following) {
		w.begin("a")
		w.write("a", "one")
		w.end("a")
		a := runs("a", 1)
		w.state(a)
		time.Sleep(10 * time.Minute)
		w.saw("a one")
		if n := len(w.opened); n < 10 || n > 30 {
			t.Errorf("%d requests in ten minutes", n)
		}
		w.opened = nil
		w.begin("a")
		w.write("a", "two")
		w.state(runs("a", 2)) // Not in half a minute: now.
		w.saw("a two")
		w.asked("a since follow")
	})
}

func TestFollowWaits(t *testing.T) {
	follow(t, 9, tailOf(1), func(w *following) {
		a := named("a")
		a.Instance, a.Waiting = "", "ContainerCreating"
		w.state(a)
		w.state(a)
		w.told("a waits ContainerCreating")
		a.Waiting = "ImagePullBackOff"
		w.state(a)
		w.state(a)
		w.told("a waits ImagePullBackOff")
		w.asked()
		w.begin("a")
		w.write("a", "one", "two")
		w.state(runs("a", 1))
		w.asked("a tail 1 follow")

		// Of those that come later only what is out of order.
		b := named("b")
		b.Instance, b.Waiting = "", "ContainerCreating"
		w.state(runs("a", 1), b)
		w.told()
		b.Waiting = "CreateContainerConfigError"
		w.state(runs("a", 1), b)
		w.told("b waits CreateContainerConfigError")
	})
}

// What is gone may still say its last words, and is let go.
func TestFollowWhatGoes(t *testing.T) {
	follow(t, 1, Options{}, func(w *following) {
		w.begin("a")
		w.begin("b")
		a, b := runs("a", 1), runs("b", 1)
		w.state(a, b)
		w.told("b queued")
		w.write("a", "one")
		w.write("b", "one")
		w.state(b)
		w.told("a gone")
		w.write("a", "last words")
		w.saw("a one", "a last words")
		time.Sleep(2 * grace)
		w.saw("b one") // Its turn has come.
		w.write("a", "too late")
		w.saw()
		w.state()
		w.told("b gone")
	})
}

func TestFollowEndedPods(t *testing.T) {
	follow(t, 9, Options{}, func(w *following) {
		w.begin("before")
		w.write("before", "done")
		w.end("before")
		before := stopped(runs("before", 1))
		before.Ended = "Succeeded"
		w.begin("job")
		job := runs("job", 1)
		w.state(before, job)
		w.saw("before done")
		w.told() // That it had ended is no news.
		w.end("job")
		job.Running, job.Ended = false, "Failed: DeadlineExceeded"
		w.state(before, job)
		w.state(before, job)
		w.told("job ended Failed: DeadlineExceeded")
		time.Sleep(time.Hour)
		w.asked("before follow", "job follow")
	})
}

// That a node is lost is told each time that it is.
func TestFollowLostNodes(t *testing.T) {
	follow(t, 9, Options{}, func(w *following) {
		w.begin("a")
		a := runs("a", 1)
		w.state(a)
		unready := a
		unready.Lost = "node n is not ready"
		for range 2 {
			w.state(unready)
			w.state(unready)
			w.told("a unreached node n is not ready")
			w.state(a)
			w.told()
		}
	})
}

func TestFollowIsBounded(t *testing.T) {
	follow(t, 3, Options{}, func(w *following) {
		var all []Container
		for i := range 8 {
			pod := fmt.Sprint("p", i)
			w.begin(pod)
			w.write(pod, "hello")
			all = append(all, runs(pod, 1))
		}
		w.state(all...)
		w.told("p3 queued", "p4 queued", "p5 queued", "p6 queued", "p7 queued")
		for i := range all {
			w.end(all[i].Pod)
			all[i] = stopped(all[i])
		}
		w.state(all...)
		time.Sleep(time.Minute)
		synctest.Wait()
		slices.Sort(w.lines)
		w.saw("p0 hello", "p1 hello", "p2 hello", "p3 hello", "p4 hello", "p5 hello", "p6 hello", "p7 hello")
		if w.high != 3 || w.open != 0 {
			t.Errorf("%d were open at once, and %d are", w.high, w.open)
		}
		w.told()
	})
}

func forbidden(pod string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, pod, errors.New("no"))
}

// A log that may not be read is not asked for again, and does not end the others.
func TestFollowWhatMayNotBeRead(t *testing.T) {
	follow(t, 1, Options{}, func(w *following) {
		w.begin("a")
		w.refuse("secret", forbidden("secret"))
		w.write("a", "one")
		a, secret := runs("a", 1), runs("secret", 1)
		w.state(secret, a)
		w.saw("a one")
		// Whether the other one was refused before or after this one had its turn is chance.
		w.notes = slices.DeleteFunc(w.notes, func(n Notice) bool { return n.Event == Queued })
		w.told("secret failed " + forbidden("secret").Error())
		w.state(runs("secret", 2), a)
		time.Sleep(time.Hour)
		w.asked("a follow", "secret follow")
	})
}

// Where none may be read there is nothing to wait for.
func TestFollowNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		states, ended := make(chan []Container), make(chan error)
		n := newNode()
		n.refuse("a", forbidden("a"))
		n.refuse("b", forbidden("b"))
		f := &Follower{Open: n.openLog, Max: 9, Began: time.Now(), Emit: func(Line) error { return nil }, Notify: func([]Notice) {}}
		go func() { ended <- f.Run(t.Context(), states) }()
		states <- []Container{runs("a", 1), runs("b", 1)}
		if err := <-ended; !apierrors.IsForbidden(err) {
			t.Errorf("error %v", err)
		}
	})
}

// What a server has not of a container that ended, it is not asked for for ever.
func TestFollowALogThatIsLost(t *testing.T) {
	follow(t, 9, Options{}, func(w *following) {
		w.begin("b")
		w.refuse("a", apierrors.NewBadRequest("no log"))
		w.state(stopped(runs("a", 1)), runs("b", 1))
		time.Sleep(time.Hour)
		w.told("a broken no log")
		w.asked("a follow", "b follow")
	})
}

// An error of who takes the lines ends the following, and no line comes after it.
func TestFollowEndsWithItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		states, ended := make(chan []Container), make(chan error)
		n := newNode()
		for _, pod := range []string{"a", "b"} {
			n.begin(pod)
			n.write(pod, "one", "two")
		}
		lines := 0
		f := &Follower{Open: n.openLog, Max: 9, Began: time.Now(), Emit: func(Line) error { lines++; return full }, Notify: func([]Notice) {}}
		go func() { ended <- f.Run(context.Background(), states) }()
		states <- []Container{runs("a", 1), runs("b", 1)}
		if err := <-ended; !errors.Is(err, full) || lines != 1 {
			t.Errorf("error %v after %d lines", err, lines)
		}
		synctest.Wait()
		if n.open != 0 {
			t.Errorf("%d logs are left open", n.open)
		}
	})
}
