package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

const randomBatches = 200

// TestScheduleRandom asks about 200 random batches of pods, and then lets the real
// scheduler place them all at once, each on a pool of nodes of its own. Of what does not fit a
// pod stays, for the reason that was given. Of what fits nearly all is placed: the scheduler
// takes the pods as they come, and may choose nodes that leave none for a later one.
func TestScheduleRandom(t *testing.T) {
	t.Parallel()
	c := cluster.StartFor(t, cluster.Options{Scheduler: true})
	config := c.Config()
	config.QPS, config.Burst = 2000, 4000
	client := kubernetes.NewForConfigOrDie(config)
	prepareScheduling(t, client)
	pools := make([]*pool, randomBatches)
	counts := map[schedule.Verdict]int{}
	for i := range pools {
		pools[i] = newPool(rand.New(rand.NewPCG(uint64(i), 6)), i)
	}
	each := func(do func(*pool, context.Context, kubernetes.Interface) error) {
		t.Helper()
		g, ctx := errgroup.WithContext(t.Context())
		g.SetLimit(8)
		for _, p := range pools {
			g.Go(func() error { return do(p, ctx, client) })
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	each((*pool).makeGround)
	each((*pool).ask)
	for _, p := range pools {
		counts[p.answer.Verdict]++
	}
	t.Logf("%v", counts)
	for verdict, least := range map[schedule.Verdict]int{schedule.Fits: 70, schedule.DoesNotFit: 50} {
		if counts[verdict] < least {
			t.Errorf("%d of the batches are %v: too few to say anything", counts[verdict], verdict)
		}
	}
	each((*pool).release)
	cluster.Eventually(t, limit, func() error { return comparePools(t.Context(), client, pools) })
}

// comparePools holds all verdicts against where the pods are.
func comparePools(ctx context.Context, client kubernetes.Interface, pools []*pool) error {
	list, err := client.CoreV1().Pods("batches").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	byName := map[string]*corev1.Pod{}
	for i := range list.Items {
		byName[list.Items[i].Name] = &list.Items[i]
	}
	var wrong, pending []string
	fit := 0
	for _, p := range pools {
		left := p.unplaced(byName)
		switch p.answer.Verdict {
		case schedule.Fits:
			fit++
			if len(left) > 0 {
				pending = append(pending, fmt.Sprintf("batch %d fits with %+v: %q have no node", p.number, p.answer.Placement, left))
			}
		case schedule.DoesNotFit:
			if err := p.agrees(left); err != nil {
				wrong = append(wrong, fmt.Sprintf("batch %d does not fit: %v (%+v)", p.number, err, p.answer.Proofs))
			}
		}
	}
	if len(wrong) > 0 || len(pending)*20 > fit {
		return fmt.Errorf("%d batches differ, and %d of %d that fit have pending pods:\n%s", len(wrong), len(pending), fit, strings.Join(slices.Concat(wrong[:min(3, len(wrong))], pending), "\n"))
	}
	return nil
}

func prepareScheduling(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	ctx := t.Context()
	if _, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "batches"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// No controller makes it here.
	if _, err := client.CoreV1().ServiceAccounts("batches").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for i, policy := range []corev1.PreemptionPolicy{corev1.PreemptLowerPriority, corev1.PreemptLowerPriority, corev1.PreemptNever} {
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("rank-%d", i+1)}, Value: int32(i+1) * 10, PreemptionPolicy: &policy}
		if _, err := client.SchedulingV1().PriorityClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// pool is a batch with nodes of its own.
type pool struct {
	number int
	nodes  []*corev1.Node
	// there are pods on nodes, waiting ones that have none.
	there, waiting []*corev1.Pod
	batch          []schedule.Pod
	answer         schedule.Result
}

// makeGround makes the nodes and the pods on them. The API server gives a new node the
// taint not-ready, which a controller takes off elsewhere; the pods tolerate it.
func (p *pool) makeGround(ctx context.Context, client kubernetes.Interface) error {
	for i, n := range p.nodes {
		made, err := client.CoreV1().Nodes().Create(ctx, n, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		p.nodes[i] = made
	}
	for i, pod := range p.there {
		made, err := client.CoreV1().Pods("batches").Create(ctx, pod, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		p.there[i] = made
	}
	return nil
}

// ask has the API server complete the pods (a dry run of one of each workload), and
// foresees the rest.
func (p *pool) ask(ctx context.Context, client kubernetes.Interface) error {
	kept := map[string]*corev1.Pod{}
	complete := func(pod *corev1.Pod, like string) (*corev1.Pod, error) {
		if kept[like] == nil {
			made, err := client.CoreV1().Pods("batches").Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if err != nil {
				return nil, err
			}
			kept[like] = made
		}
		out := kept[like].DeepCopy()
		out.Name = pod.Name
		return out, nil
	}
	question := &schedule.Cluster{Nodes: p.nodes, Pods: slices.Clone(p.there), Namespaces: []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "batches"}}}}
	for _, pod := range p.waiting {
		made, err := complete(pod, pod.Name)
		if err != nil {
			return err
		}
		question.Pods = append(question.Pods, made)
	}
	asked := slices.Clone(p.batch)
	for i := range asked {
		made, err := complete(asked[i].Pod, asked[i].Pod.Labels["app"])
		if err != nil {
			return err
		}
		asked[i].Pod = made
	}
	p.answer = question.Place(asked)
	return nil
}

// release makes the pods for real.
func (p *pool) release(ctx context.Context, client kubernetes.Interface) error {
	pods := slices.Clone(p.waiting)
	for _, b := range p.batch {
		pods = append(pods, b.Pod)
	}
	rand.New(rand.NewPCG(uint64(p.number), 7)).Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	for _, pod := range pods {
		if _, err := client.CoreV1().Pods("batches").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// unplaced says which pods of the batch have no node, and what the scheduler says of them.
func (p *pool) unplaced(pods map[string]*corev1.Pod) []string {
	var left []string
	for _, b := range p.batch {
		switch pod := pods[b.Pod.Name]; {
		case pod == nil:
			left = append(left, b.Pod.Name+" was evicted")
		case pod.Spec.NodeName == "":
			left = append(left, b.Pod.Name+": "+unscheduled(pod))
		}
	}
	return left
}

func unscheduled(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	return ""
}

// agrees looks for the reasons in what the scheduler says.
func (p *pool) agrees(left []string) error {
	if len(left) == 0 {
		return fmt.Errorf("all pods have a node")
	}
	words := map[string]string{
		"InsufficientCPU": "Insufficient cpu", "InsufficientMemory": "Insufficient memory", "TooManyPods": "Too many pods", "InsufficientResource": "Insufficient example.com",
		"Taint": "untolerated taint", "Cordoned": "were unschedulable", "NodeSelector": "didn't match Pod's node affinity/selector", "Port": "free ports",
		"AntiAffinity": "anti-affinity rules", "Affinity": "didn't match pod affinity rules", "Spread": "topology spread constraints", "TopologyLabel": "topology spread constraints (missing required label)",
	}
	for _, proof := range p.answer.Proofs {
		reasons := []string{proof.Reason}
		for _, n := range proof.Nodes {
			reasons = append(reasons, n.Reason)
		}
		if !slices.ContainsFunc(reasons, func(r string) bool {
			return words[r] != "" && slices.ContainsFunc(left, func(s string) bool { return strings.Contains(s, words[r]) })
		}) {
			return fmt.Errorf("the scheduler says %q", left)
		}
	}
	return nil
}
