package app

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/demotest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/all"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// reported keeps what the user would be told beside the answer.
type reported struct{ lines []string }

func (r *reported) Gaps(gaps []object.Gap) {
	for _, g := range gaps {
		r.lines = append(r.lines, g.Message)
	}
}
func (r *reported) Warn(text string)     { r.lines = append(r.lines, text) }
func (r *reported) Note(text string)     { r.lines = append(r.lines, text) }
func (r *reported) Progress(text string) {}
func (r *reported) Timings(text string)  { r.lines = append(r.lines, text) }

// demoInput reads the example.
func demoInput() *Input {
	now := func() time.Time { return time.Date(2026, 9, 14, 9, 30, 0, 0, time.UTC) }
	return &Input{
		From: "demo", Demo: demotest.FS(), Stdin: strings.NewReader(""), Now: now, Clock: NewStopwatch(now), Report: &reported{},
		Config: genericclioptions.NewConfigFlags(true),
	}
}

// TestQuestions: the application answers without a command line.
func TestQuestions(t *testing.T) {
	in := demoInput()
	in.AllNamespaces = true
	stacks, err := in.Stacks(t.Context(), StacksRequest{SortBy: "name", Book: cost.DefaultBook()})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range stacks.Rows {
		names = append(names, stacks.Rows[i].Name.String())
	}
	if !slices.Contains(names, "Moodle.moodlecontroller.kubeplus/moodle/moodle-1") {
		t.Errorf("stacks: %v", names)
	}

	h, err := in.Health(t.Context(), &HealthRequest{Args: []string{"moodle/moodle-2"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Evaluate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(h.Stacks) != 1 || h.IsHealthy() {
		t.Errorf("health of moodle-2: %+v", h.Stacks)
	}

	run, err := Check(t.Context(), in, &CheckRequest{Rules: all.Rules()})
	if err != nil {
		t.Fatal(err)
	}
	report, err := run.NewReport(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Subjects) < 5 || len(in.Extract) != 0 {
		t.Errorf("%d subjects; the request left %d extractors behind", len(report.Subjects), len(in.Extract))
	}
}

// TestSingleStackReport: the figures of one stack leave those of the page as they are.
func TestSingleStackReport(t *testing.T) {
	in := demoInput()
	in.AllNamespaces = true
	page := in.NewPage(&MetricsRequest{Options: cost.Options{Sharing: cost.ShareEven}, Brief: true, Book: cost.DefaultBook()}, nil)
	if err := page.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := page.Observe(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := page.Last
	unclaimed := slices.Clone(last.Reading.Unclaimed)
	id, ok := last.Graph.Find(object.Ref{Group: "moodlecontroller.kubeplus", Kind: "Moodle", Namespace: "moodle", Name: "moodle-1"})
	if !ok || len(unclaimed) == 0 {
		t.Fatalf("the example has no moodle-1, or no unclaimed volume: %v, %v", ok, unclaimed)
	}
	stack := last.Graph.Stack([]graph.ID{id}, last.StackOptions())
	if m := last.SingleStackReport(t.Context(), id, stack); m == nil {
		t.Fatal("no report")
	}
	if !reflect.DeepEqual(last.Reading.Unclaimed, unclaimed) {
		t.Errorf("unclaimed volumes of the page: %+v, want %+v", last.Reading.Unclaimed, unclaimed)
	}
}
