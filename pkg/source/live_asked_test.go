package source

import (
	"testing"
)

// What is asked of the cluster that a Live follows may be asked while that one asks discovery again
// (as the page does). The race detector says whether it may.
func TestLiveClusterIsAskedMeanwhile(t *testing.T) {
	f := newFake(t)
	f.serveWidgets(true)
	l := f.live(t, ClusterOptions{})
	l.open()
	stop, asked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(asked)
		for {
			whole := l.Cluster().Whole()
			if _, ok := whole.Current().Kind(podKind); !ok {
				t.Error("pods are not known meanwhile")
			}
			if _, ok := l.Cluster().Serves(podResource); !ok {
				t.Error("pods are not served meanwhile")
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	for range 20 {
		if err := l.discover(t.Context()); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	<-asked
	if whole := l.Cluster().Whole(); whole.Current() != l.Current() {
		t.Error("a copy does not have the kinds of now")
	}
}
