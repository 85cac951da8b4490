package operator

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

func operatorReplicas(o *check.Operator, r *check.Result) {
	for _, wl := range o.Workloads {
		if wl.Ref.Kind == "DaemonSet" || !wl.IsLongRunning() || wl.Replicas < 1 {
			continue
		}
		if wl.Replicas > 1 {
			r.Pass(wl.Ref)
			continue
		}
		f := check.Finding{Object: wl.Ref, Field: "spec.replicas", Value: fmt.Sprint(wl.Replicas)}
		if arg, elects := electionArgument(wl); elects {
			f.Message = fmt.Sprintf("has one replica, although it elects a leader (%s): while its pod is moved, changes of its custom resources have no effect", arg)
		} else {
			f.Message = "has one replica: while its pod is moved, changes of its custom resources have no effect"
			f.Remedy = "Check whether the operator can elect a leader, and enable that before you run a second replica; without it the two would act against each other."
		}
		r.AddFinding(f)
	}
}

// electionArgument returns the argument that makes a workload elect a leader.
func electionArgument(wl *check.Workload) (string, bool) {
	for _, spec := range wl.Specs() {
		for i := range spec.Containers {
			c := &spec.Containers[i]
			for _, arg := range slices.Concat(c.Command, c.Args) {
				if isElectionArgument(arg) {
					return arg, true
				}
			}
			if i := slices.IndexFunc(c.Env, isElectionVariable); i >= 0 {
				return c.Env[i].Name + "=" + c.Env[i].Value, true
			}
		}
	}
	return "", false
}

func isElectionVariable(e corev1.EnvVar) bool { return isElectionArgument(e.Name + "=" + e.Value) }

var hyphens = strings.NewReplacer("_", "-", ".", "-")

// isElectionArgument reports whether an argument or a variable enables leader election:
// --leader-elect, --enable-leader-election=true, LEADER_ELECTION=true.
func isElectionArgument(arg string) bool {
	name, value, has := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	name = hyphens.Replace(strings.ToLower(name))
	if has && strings.HasPrefix(name, "leader-elect") && value != "" {
		// Only a program that takes a lock has a setting for its place or name.
		if _, about, ok := strings.Cut(strings.TrimPrefix(name, "leader-elect"), "-"); ok && (strings.HasSuffix(about, "namespace") || strings.HasSuffix(about, "id") || strings.HasSuffix(about, "name")) {
			return true
		}
	}
	if has && !check.IsTrue(value) {
		return false
	}
	switch strings.TrimPrefix(name, "enable-") {
	case "leader-elect", "leader-election", "leader-election-enabled", "leader-elect-enabled":
		return true
	}
	return false
}
