package health_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// causes writes the causes of a stack: those at one depth in brackets of their own.
func causes(g *graph.Graph, s *health.Stack) string {
	var out []string
	for _, c := range s.Causes {
		out = append(out, fmt.Sprintf("%s@%d", nameOf(g.Ref(c.ID)), c.Depth))
	}
	return strings.Join(out, " ")
}

func TestStack(t *testing.T) {
	for name, c := range map[string]struct {
		lines, roots string
		status       health.Status
		causes       string
	}{
		"all is well":                    {"a owns b\nb needs c", "a", health.Healthy, ""},
		"below an owner":                 {"a owns b\nb owns Pod:c\nPod:c is Degraded", "a", health.Degraded, "Pod:c@2"},
		"what is needed":                 {"a needs b\nb is Progressing", "a", health.Progressing, "b@1"},
		"optional":                       {"a needs? b\nb is Degraded", "a", health.Healthy, ""},
		"what only serves":               {"b serves a\nb is Degraded", "a", health.Healthy, ""},
		"an autoscaler that cannot":      {"b scales a\nb is Degraded", "a", health.Degraded, "b@1"},
		"one that another one made":      {"k scales a\nk owns b\nb scales a\nb is Degraded", "a", health.Degraded, "b@1"},
		"one that is suspended":          {"b scales a\nb is Suspended", "a", health.Healthy, ""},
		"one that is not judged":         {"b scales a\nb is Unknown", "a", health.Healthy, ""},
		"one that is on its way":         {"b scales a\nb is Progressing", "a", health.Healthy, ""},
		"an autoscaler explains nothing": {"b scales a\nb is Degraded\na is Degraded", "a", health.Degraded, "b@1 a@0"},
		"one that sets requests":         {"VerticalPodAutoscaler:b targets a\nVerticalPodAutoscaler:b is Degraded", "a", health.Degraded, "VerticalPodAutoscaler:b@1"},
		"a policy that targets":          {"b targets a\nb is Degraded", "a", health.Healthy, ""},
		"of what is optional":            {"a needs? c\nb scales c\nb is Degraded", "a", health.Healthy, ""},
		"the deepest first":              {"a owns b\nb owns c\na owns d\nc is Degraded\nd is Degraded", "a", health.Degraded, "c@2 d@1"},
		"explained by what is below":     {"a owns b\nb owns c\na is Degraded\nb is Degraded\nc is Degraded", "a", health.Degraded, "c@2"},
		"worse than what is below":       {"a owns b\na is Degraded\nb is Progressing", "a", health.Degraded, "b@1 a@0"},
		"milder than what is below":      {"a owns b\na is Progressing\nb is Degraded", "a", health.Degraded, "b@1"},
		"one that is shared marks both":  {"a needs c\nb needs c\nc is Degraded", "b", health.Degraded, "c@1"},
		"missing":                        {"a needs b\ngone b", "a", health.Missing, "b@1"},
		"missing explains":               {"a owns b\nb needs c\nb is Degraded\ngone c", "a", health.Degraded, "c@2"},
		"missing and optional":           {"a needs? b\ngone b", "a", health.Healthy, ""},
		"missing below what is optional": {"a needs? b\nb needs c\ngone c", "a", health.Healthy, ""},
		"unread custom resource":         {"a needs b\nunread b", "a", health.Unknown, "b@1"},
		"unread claim":                   {"Pod:a needs PersistentVolumeClaim:b\nunread PersistentVolumeClaim:b\nPod:a is Healthy", "Pod:a", health.Healthy, ""},
		"unread claim of what is silent": {"a needs PersistentVolumeClaim:b\nunread PersistentVolumeClaim:b\na is silent", "a", health.Unknown, "PersistentVolumeClaim:b@1"},
		"unread Secret":                  {"a needs Secret:b\nunread Secret:b", "a", health.Healthy, ""},
		"unread node":                    {"a needs Node:b\nunread Node:b", "a", health.Healthy, ""},
		"unread volume":                  {"a needs PersistentVolume:b\nunread PersistentVolume:b", "a", health.Healthy, ""},
		"node that is down":              {"a needs Node:b\nNode:b is Degraded", "a", health.Degraded, "Node:b@1"},
		"trouble before what is unknown": {"a needs b\na needs c\nb is Unknown\nc is Progressing", "a", health.Progressing, "c@1"},
		"suspended":                      {"a owns b\nb is Suspended", "a", health.Suspended, "b@1"},
		"unknown before suspended":       {"a owns b\na owns c\nb is Suspended\nc is Unknown", "a", health.Unknown, "c@1"},
		"a Service stands for its pods":  {"a needs s\ns serves Pod:p\nd owns Pod:p\nd is Degraded\nPod:p is Healthy", "a", health.Degraded, "d@2"},
		"a ring of needs":                {"a needs b\nb needs c\nc needs b\nc is Degraded", "a", health.Degraded, "c@2"},
		"a ring in trouble":              {"a needs b\nb needs c\nc needs b\nb is Degraded\nc is Degraded", "a", health.Degraded, "b@1"},
		"a ring of owners":               {"a owns b\nb owns a\nb is Degraded", "a", health.Degraded, "b@1"},
		"a budget forbids":               {"a owns PodDisruptionBudget:b\nPodDisruptionBudget:b is Degraded", "a", health.Healthy, ""},
		"an evicted pod was replaced":    {"ReplicaSet:a owns Pod:b\nReplicaSet:a owns Pod:c\nPod:b ended Degraded", "ReplicaSet:a", health.Healthy, ""},
		"a failed pod of a failed Job":   {"Job:a owns Pod:b\nJob:a is Degraded\nPod:b ended Degraded", "Job:a", health.Degraded, "Pod:b@1"},
		"a Job retries":                  {"Job:a owns Pod:b\nJob:a is Progressing\nPod:b ended Degraded", "Job:a", health.Progressing, "Job:a@0"},
		"a pod that nobody owns":         {"Pod:a ended Degraded", "Pod:a", health.Degraded, "Pod:a@0"},
		"the last Job failed":            {"CronJob:a owns Job:b\nCronJob:a owns Job:c\nJob:b ended Healthy since 1\nJob:c ended Degraded since 2", "CronJob:a", health.Degraded, "Job:c@1"},
		"a Job failed before the last":   {"CronJob:a owns Job:b\nCronJob:a owns Job:c\nJob:b ended Degraded since 1\nJob:c ended Healthy since 2", "CronJob:a", health.Healthy, ""},
		"a maker in trouble":             {"a needs Secret:s\nb owns Secret:s\nb is Degraded", "a", health.Degraded, "b@2"},
		"what a maker needs":             {"a needs Secret:s\nb owns Secret:s\nb needs c\nb is Degraded\nc is Degraded", "a", health.Degraded, "c@3"},
		"what it makes for it is gone":   {"a needs Secret:s\nb makes Secret:s\ngone Secret:s\nb is Degraded", "a", health.Degraded, "b@2"},
		"and what it needs for that":     {"a needs Secret:s\nb makes Secret:s\ngone Secret:s\nb is Degraded\nb needs c\ngone c", "a", health.Degraded, "c@3"},
		"gone, and its maker is well":    {"a needs Secret:s\nb makes Secret:s\ngone Secret:s", "a", health.Missing, "Secret:s@1"},
		"a maker that was not read":      {"a needs Secret:s\nb owns Secret:s\nunread b", "a", health.Healthy, ""},
		"what else a maker owns":         {"a needs Secret:s\nb owns Secret:s\nb owns Pod:c\nPod:c is Degraded", "a", health.Healthy, ""},
		"a maker of what is optional":    {"a needs? Secret:s\nb owns Secret:s\nb is Degraded", "a", health.Healthy, ""},
		"the last run failed":            {"CronJob:a owns b\nCronJob:a owns c\nb kept-by CronJob.batch - 1\nc is Degraded\nc kept-by CronJob.batch - 2", "CronJob:a", health.Degraded, "c@1"},
		"a run failed before the last":   {"CronJob:a owns b\nCronJob:a owns c\nb is Degraded\nb kept-by CronJob.batch - 1\nc kept-by CronJob.batch - 2", "CronJob:a", health.Healthy, ""},
		"runs of any owner":              {"CronJob:a owns b\nCronJob:a owns c\nb is Degraded\nb kept-by * - 1\nc kept-by * - 2", "CronJob:a", health.Healthy, ""},
		"steps of a run of its kind":     {"a owns b\na owns c\nb is Degraded\nb kept-by * - 1\nc kept-by * - 2", "a", health.Degraded, "b@1"},
		"runs of another owner":          {"CronJob:a owns b\nCronJob:a owns c\nb is Degraded\nb kept-by Job.batch - 1\nc kept-by Job.batch - 2", "CronJob:a", health.Degraded, "b@1"},
		"a run of a revision before":     {"CronJob:a owns b\nCronJob:a at 2\nb is Degraded\nb kept-by CronJob.batch 1 5", "CronJob:a", health.Healthy, ""},
		"a run of the present revision":  {"CronJob:a owns b\nCronJob:a owns c\nCronJob:a at 2\nb is Degraded\nb kept-by CronJob.batch 2 3\nc kept-by CronJob.batch 1 5", "CronJob:a", health.Degraded, "b@1"},
		"the last of the revision":       {"CronJob:a owns b\nCronJob:a owns c\nCronJob:a at 2\nb is Degraded\nb kept-by CronJob.batch 2 3\nc kept-by CronJob.batch 2 5", "CronJob:a", health.Healthy, ""},
		"two roots":                      {"a is Degraded\nb is Progressing", "a b", health.Degraded, "a@0 b@0"},
	} {
		t.Run(name, func(t *testing.T) {
			g, _, s := newWorld(t, c.lines).stack(c.roots)
			if got := causes(g, s); s.Status != c.status || got != c.causes {
				t.Errorf("%s because of %q, want %s because of %q", s.Status, got, c.status, c.causes)
			}
		})
	}
}

// What is silent has the health of what it owns, at any depth, and says from what.
func TestDerived(t *testing.T) {
	for name, c := range map[string]struct {
		lines, of string
		status    health.Status
		from      string
	}{
		"what it owns":         {"a is silent\na owns b", "a", health.Healthy, "b"},
		"the worst of it":      {"a is silent\na owns b\na owns c\nc is Degraded", "a", health.Degraded, "b c"},
		"through many levels":  {"a is silent\nb is silent\nc is silent\na owns b\nb owns c\nc owns d\nd is Progressing", "a", health.Progressing, "d"},
		"below one that tells": {"a is silent\na owns b\nb owns Pod:c\nPod:c is Degraded", "a", health.Degraded, "b"},
		"nothing":              {"a is silent", "a", health.Unknown, ""},
		"only silent ones":     {"a is silent\na owns b\nb is silent", "a", health.Unknown, ""},
		"not what it needs":    {"a is silent\na needs b", "a", health.Unknown, ""},
		"not what was evicted": {"a is silent\na owns ReplicaSet:r\nReplicaSet:r owns Pod:c\nPod:c ended Degraded", "a", health.Healthy, "ReplicaSet:r"},
		"a ring":               {"a is silent\nb is silent\na owns b\nb owns a\nb owns c\nc is Degraded", "b", health.Degraded, "c"},
		"it speaks":            {"a is Progressing\na owns b", "a", health.Progressing, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g, a := newWorld(t, c.lines).assess()
			id, _ := g.Find(refOf(c.of))
			var from []string
			for _, id := range a.DerivedFrom(id) {
				from = append(from, nameOf(g.Ref(id)))
			}
			slices.Sort(from)
			if got := a.OwnHealth(id); got.Status != c.status || strings.Join(from, " ") != c.from {
				t.Errorf("%s, derived from %v, want %s from %q", got.Status, from, c.status, c.from)
			}
		})
	}
}

// Whatever the graph: the stack is the worst of what counts, every part knows the worst
// below it, and a stack in trouble has a cause that is as bad as the stack.
func TestRandomStacks(t *testing.T) {
	words := []string{"owns", "needs", "needs?", "serves", "scales"}
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 5))
		var lines strings.Builder
		n := 2 + random.IntN(12)
		for range random.IntN(3 * n) {
			fmt.Fprintf(&lines, "t%d %s t%d\n", random.IntN(n), words[random.IntN(len(words))], random.IntN(n))
		}
		for i := range n {
			fmt.Fprintf(&lines, "t%d is %s\n", i, health.Statuses()[random.IntN(len(health.Statuses()))])
		}
		_, _, s := newWorld(t, lines.String()).stack("t0")
		var worst health.Status
		for _, p := range s.Parts {
			if p.Required {
				worst = health.Worst(worst, p.Own.Status)
			}
			if p.Depth == 0 && p.Status() != s.Status {
				t.Fatalf("the root is %s with what is below, the stack %s:\n%s", p.Status(), s.Status, &lines)
			}
		}
		if worst != s.Status {
			t.Fatalf("%s, and its worst part is %s:\n%s", s.Status, worst, &lines)
		}
		bad := slices.ContainsFunc(s.Causes, func(c health.Cause) bool { return c.Health.Status == s.Status || c.Health.Status == health.Missing })
		if bad == (s.Status == health.Healthy) {
			t.Fatalf("%s, with causes %+v:\n%s", s.Status, s.Causes, &lines)
		}
	}
}

// What is missing is told with who makes it.
func TestMissingIsToldWithItsMaker(t *testing.T) {
	for lines, want := range map[string]string{
		"a needs Secret:s\nb makes Secret:s\ngone Secret:s":                   "not found: Thing.test/ns/b creates it",
		"a needs Secret:s\nb makes Secret:s\nc makes Secret:s\ngone Secret:s": "not found: Thing.test/ns/b or Thing.test/ns/c creates it",
		"a needs Secret:s\ngone Secret:s":                                     "not found",
	} {
		g, _, s := newWorld(t, lines).stack("a")
		id, ok := g.Find(refOf("Secret:s"))
		if part, in := s.Part(id); !ok || !in || part.Own.Message != want {
			t.Errorf("%q: %+v, want %q", lines, part.Own, want)
		}
	}
}
