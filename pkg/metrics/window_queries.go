package metrics

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A window is evaluated by the server, step by step. Steps are aligned to the epoch: step t
// covers (t - step, t], so each step belongs to exactly one of adjacent windows. The value of
// a quantity at a step is a whole number, and sums of whole numbers below 2^53 are exact in a
// float: it does not matter how a window is divided into queries.
//
//   - CPU and traffic are the last value of a counter within the step less its last value
//     before the step, as far back as maxGap. Sums over steps telescope: nothing is
//     extrapolated. A counter that fell adds nothing in that step. The first value of a new
//     series counts in full if its container started within the hour before.
//   - Memory, and whether a pod holds its requests, are sampled at every sampling interval:
//     a fifth of the step, at least a minute.
//   - Requests are the rate in the step, times the time that the pod held them.
//   - Claims, nodes, load balancers and volumes are sampled once a step.
//
// Series of several scrapers or replicas of one thing are merged by their largest value.

const (
	// staleness is how long a sample stands if nothing follows it, as in Prometheus.
	staleness = 5 * time.Minute
	// maxGap is the longest gap of a counter over which its difference is counted.
	maxGap = time.Hour
	// mountParts is how many parts a step of a claim has, to split it among pods: every
	// number up to 16 divides it. Where more share one, a few parts of each step remain.
	mountParts = 720720
)

// Labels that identify things. A container of cAdvisor that restarts has another id.
const (
	podKey       = "namespace,pod,uid"
	containerKey = podKey + ",container"
	cgroupKey    = "namespace,pod,container,id,name"
	claimKey     = "namespace,persistentvolumeclaim"
)

// cgroupUID matches the UID of a pod in the path of its cgroup, with dashes or underscores.
const cgroupUID = `.*pod([0-9a-f]{8})[-_]([0-9a-f]{4})[-_]([0-9a-f]{4})[-_]([0-9a-f]{4})[-_]([0-9a-f]{12}).*`

// The metrics that queries name more than once.
const (
	phaseMetric     = "kube_pod_status_phase"
	infoMetric      = "kube_pod_info"
	cpuMetric       = "container_cpu_usage_seconds_total"
	memoryMetric    = "container_memory_working_set_bytes"
	startMetric     = "container_start_time_seconds"
	podStartMetric  = "kube_pod_start_time"
	requestsMetric  = "kube_pod_container_resource_requests"
	initRequests    = "kube_pod_init_container_resource_requests"
	limitsMetric    = "kube_pod_container_resource_limits"
	initLimits      = "kube_pod_init_container_resource_limits"
	initRunning     = "kube_pod_init_container_status_running"
	initInfo        = "kube_pod_init_container_info"
	runningMetric   = "kube_pod_container_status_running"
	overheadCPU     = "kube_pod_overhead_cpu_cores"
	overheadMemory  = "kube_pod_overhead_memory_bytes"
	schedulerMetric = "kube_pod_resource_request"
	createdMetric   = "kube_pod_created"
	receiveMetric   = "container_network_receive_bytes_total"
	transmitMetric  = "container_network_transmit_bytes_total"
	capacityMetric  = "kube_node_status_capacity"
	volumeMetric    = "kube_persistentvolume_capacity_bytes"
	volumePhase     = "kube_persistentvolume_status_phase"
	claimMetric     = "kube_persistentvolumeclaim_resource_requests_storage_bytes"
	claimInfo       = "kube_persistentvolumeclaim_info"
	mountMetric     = "kube_pod_spec_volumes_persistentvolumeclaims_info"
	claimUsage      = "kubelet_volume_stats_used_bytes"
	balancerMetric  = "kube_service_status_load_balancer_ingress"
)

// specRequest is a request that only the specs of pods have, and the UIDs of the pods.
type specRequest struct {
	resource Resource
	rate     int64 // millicores, bytes or pieces
	uids     []string
}

// expressions writes PromQL.
type expressions struct {
	step, sampling time.Duration
	namespaces     []string
	matchers       string
	// has are the metrics that the server has.
	has map[string]bool
	// exported says that the scraper has put its own labels in the place of those of
	// kube-state-metrics (honor_labels: false); scheduled, of those of kube-scheduler.
	exported, scheduled bool
	// unnamed says that cAdvisor does not name the UID of some pods.
	unnamed bool
	specs   []specRequest
}

// selector selects a metric in the namespaces of the question.
func (e *expressions) selector(name string, matchers ...string) string {
	if e.matchers != "" {
		matchers = append(matchers, e.matchers)
	}
	ofCluster := strings.HasPrefix(name, "kube_node_") || strings.HasPrefix(name, "kube_persistentvolume_")
	if len(e.namespaces) > 0 && !ofCluster {
		label := "namespace"
		if e.relabelled(name) {
			label = "exported_namespace"
		}
		matchers = append(matchers, label+"=~"+quoteMatcher(e.namespaces))
	}
	if len(matchers) == 0 {
		return name
	}
	return name + "{" + strings.Join(matchers, ",") + "}"
}

// relabelled says that the labels of a metric are those of its scraper.
func (e *expressions) relabelled(name string) bool {
	if name == schedulerMetric {
		return e.scheduled
	}
	return e.exported && strings.HasPrefix(name, "kube_")
}

// own gives the series of kube-state-metrics and kube-scheduler their own labels back: of those
// that are read, or all of them. It changes nothing where the scraper has left them.
func (e *expressions) own(labels, name, x string) string {
	if !e.relabelled(name) {
		return x
	}
	read := strings.Split(labels, ",")
	for _, label := range []string{"namespace", "pod", "container", "node", "service"} {
		if labels == "" || slices.Contains(read, label) {
			x = fmt.Sprintf(`label_replace(%s,%q,"$1",%q,"(.+)")`, x, label, "exported_"+label)
		}
	}
	return x
}

// now is the value of a metric at a moment, by labels.
func (e *expressions) now(labels, name string, matchers ...string) string {
	return maxBy(labels, e.own(labels, name, e.selector(name, matchers...)))
}

// recent is its last value within the step, or within staleness where that is longer.
func (e *expressions) recent(labels, name string, matchers ...string) string {
	return maxBy(labels, e.own(labels, name, e.last(max(e.step, staleness), 0, name, matchers...)))
}

func (e *expressions) last(length, offset time.Duration, name string, matchers ...string) string {
	x := e.selector(name, matchers...) + "[" + lengthOf(length) + "]"
	if offset > 0 {
		x += " offset " + lengthOf(offset)
	}
	return "last_over_time(" + x + ")"
}

// sampled is the sum of the samples of a step.
func (e *expressions) sampled(x string) string {
	if e.step == e.sampling {
		return "(" + x + ")"
	}
	return sumOver(x, e.step, e.sampling)
}

// withUID adds the UID of the pod, from the path of the cgroup.
func withUID(x string) string {
	return fmt.Sprintf(`label_replace(%s,"uid","$1-$2-$3-$4-$5","id",%q)`, x, cgroupUID)
}

// increase is what a counter grew by in the step. started is when its thing started, and on
// the labels that both have.
func (e *expressions) increase(labels, started, on, name string, matchers ...string) string {
	current := maxBy(labels, e.last(e.step, 0, name, matchers...))
	before := union(maxBy(labels, e.last(staleness, e.step, name, matchers...)), maxBy(labels, e.last(maxGap, e.step, name, matchers...)))
	grown := "((" + current + " - " + before + ") >= 0)"
	if started == "" {
		return grown
	}
	young := fmt.Sprintf("(%s) > time() - %d", started, int64((e.step + maxGap).Seconds()))
	return "(" + grown + " or ((" + current + " and on (" + on + ") (" + young + ")) unless " + before + "))"
}

// cpu is the CPU time of the step by container, in microseconds.
func (e *expressions) cpu(labels string) string {
	started, on := "", "namespace,pod"
	switch {
	case e.has[startMetric]:
		started, on = maxBy(cgroupKey, e.last(max(e.step, staleness), 0, startMetric, `pod!=""`)), cgroupKey
	case e.has[podStartMetric]:
		started = e.recent(on, podStartMetric)
	}
	return sumBy(labels, "round(1e6 * "+withUID(e.increase(cgroupKey, started, on, cpuMetric, `container!=""`, `container!="POD"`, `cpu=~"|total"`))+")")
}

// memory is the memory at a moment. Kubelets send timestamps, and for these Prometheus does not
// mark the end of a series: a sample is valid for a minute longer than the sampling interval, so
// that one scrape may fail, and not for the staleness period.
func (e *expressions) memory(labels string) string {
	return sumBy(labels, withUID(maxBy(cgroupKey, e.memorySamples())))
}

func (e *expressions) memorySamples() string {
	return e.last(min(e.sampling+time.Minute, staleness), 0, memoryMetric, `container!=""`, `container!="POD"`)
}

// traffic is the bytes of the step, by pod.
func (e *expressions) traffic(name string) string {
	started, on := []string{}, "namespace,pod"
	if e.has[podStartMetric] {
		started = append(started, e.recent(on, podStartMetric))
	}
	if e.has[startMetric] {
		started = append(started, e.recent(on, startMetric, `pod!=""`))
	}
	return sumBy(podKey, withUID(e.increase(cgroupKey+",interface", strings.Join(started, " or "), on, name, `pod!=""`, `interface!="lo"`)))
}

// running is 1 where a pod runs, and 0 where it does not.
func (e *expressions) running() string { return e.now(podKey, phaseMetric, `phase="Running"`) }

// held is how many samples of the step a pod held its requests: it ran, or waited on a node.
func (e *expressions) held() string {
	if !e.has[phaseMetric] {
		return e.sampled(e.now(podKey, requestsMetric) + " * 0 + 1")
	}
	waiting := "((" + e.now(podKey, phaseMetric, `phase="Pending"`) + " == 1) and on (" + podKey + ") " + e.now(podKey, infoMetric, `node!=""`) + ")"
	return e.sampled(union("("+e.running()+" == 1)", waiting))
}

// cpuRate writes cores as microseconds of CPU in a sampling interval.
func (e *expressions) cpuRate(cores string) string {
	return fmt.Sprintf("round(%s * 1000) * %d", cores, e.sampling.Milliseconds())
}

// rates are the requests or limits of containers, by resource.
func (e *expressions) rates(name string) string {
	labels := containerKey + ",resource"
	return union("("+e.cpuRate(e.recent(labels, name, `resource="cpu"`))+")", e.recent(labels, name, `resource!="cpu"`))
}

// containers are those of the containers that run beside each other: of init containers the
// sidecars alone.
func (e *expressions) containers(name, ofInit string) string {
	if !e.has[ofInit] {
		return e.rates(name)
	}
	sidecar := []string{e.recent(containerKey, initInfo, `restart_policy="Always"`)}
	if e.has[phaseMetric] {
		sidecar = append(sidecar, "(("+e.recent(containerKey, initRunning)+" == 1) and on ("+podKey+") ("+e.running()+" == 1))")
	}
	return union(e.rates(name), "("+e.rates(ofInit)+" and on ("+containerKey+") "+union(sidecar...)+")")
}

// overheadName is the name of the overhead of a pod among its containers.
const overheadName = "/"

// withOverhead adds the overhead of pods to rates of containers.
func (e *expressions) withOverhead(rates string) string {
	parts := []string{rates}
	if e.has[overheadCPU] {
		parts = append(parts, labelled(labelled(e.cpuRate(e.recent(podKey, overheadCPU)), "resource", "cpu"), "container", overheadName))
	}
	if e.has[overheadMemory] {
		parts = append(parts, labelled(labelled(e.recent(podKey, overheadMemory), "resource", "memory"), "container", overheadName))
	}
	return union(parts...)
}

// times multiplies rates of pods by the time that the pods held them.
func (e *expressions) times(rates string) string {
	return "(" + rates + " * on (" + podKey + ") group_left () " + e.held() + ")"
}

// current names the UID of the pod that has a name: the one that was created last.
func (e *expressions) current() string {
	return "(topk by (namespace,pod) (1, " + e.recent(podKey, createdMetric) + ") * 0 + 1)"
}

// requests are the rates of the requests of pods: those of kube-scheduler, of the spec, or
// the sum of the containers and the overhead.
func (e *expressions) requests() string {
	var all []string
	if e.has[schedulerMetric] && e.has[createdMetric] {
		labels := "namespace,pod,resource"
		rates := union("("+e.cpuRate(e.recent(labels, schedulerMetric, `node!=""`, `resource="cpu"`))+")", e.recent(labels, schedulerMetric, `node!=""`, `resource="memory"`))
		all = append(all, "("+rates+" * on (namespace,pod) group_left (uid) "+e.current()+")")
	}
	for _, s := range e.specs {
		rate := s.rate
		if s.resource == CPU {
			rate *= e.sampling.Milliseconds()
		}
		x := fmt.Sprintf("%s * 0 + %d", e.recent(podKey, infoMetric, "uid=~"+quoteMatcher(s.uids)), rate)
		all = append(all, labelled(x, "resource", sanitize(string(s.resource))))
	}
	return union(append(all, sumBy(podKey+",resource", e.withOverhead(e.containers(requestsMetric, initRequests))))...)
}

// used is the usage of pods by resource, in the units of requests.
func (e *expressions) used() string {
	var all []string
	if e.has[cpuMetric] {
		all = append(all, labelled(e.cpu(podKey), "resource", "cpu"))
	}
	if e.has[memoryMetric] {
		all = append(all, labelled(e.sampled(e.memory(podKey)), "resource", "memory"))
	}
	x := union(all...)
	if !e.unnamed || !e.has[createdMetric] {
		return x
	}
	nameless := "(" + x + " and on (uid) vector(0))"
	return sumBy(podKey+",resource", union(
		"("+x+" unless on (uid) vector(0))",
		labelled("("+nameless+" * on (namespace,pod) group_left (uid) "+e.current()+")", "of", "name"),
		labelled("("+nameless+" unless on (namespace,pod) "+e.current()+")", "of", "unknown")))
}

// charged is the larger of request and usage.
func (e *expressions) charged() string {
	var all []string
	if e.has[requestsMetric] {
		all = append(all, labelled(e.times(e.requests()), "of", "requests"))
	}
	if e.has[cpuMetric] || e.has[memoryMetric] {
		all = append(all, e.used())
	}
	return maxBy(podKey+",resource", union(all...))
}

// gaps count the samples at which a pod ran and had no usage, or the other way round.
func (e *expressions) gaps() string {
	usage := maxBy("namespace,pod", e.memorySamples())
	phase := e.now("namespace,pod", phaseMetric, `phase="Running"`)
	return e.sampled(union("(("+phase+" == 1) unless "+usage+")", "(("+usage+" * 0 + 1) unless "+phase+")"))
}

// sampledSteps are 1 at each step that has any sample.
func (e *expressions) sampledSteps() string {
	cluster := *e
	cluster.namespaces = nil
	var all []string
	for _, name := range []string{memoryMetric, cpuMetric} {
		if e.has[name] {
			all = append(all, "group("+cluster.selector(name, `container!=""`)+")")
		}
	}
	if e.has[phaseMetric] {
		all = append(all, "group("+cluster.selector(phaseMetric, `phase="Running"`)+")")
	}
	return union(all...)
}

// claims are their sizes: the capacity of the volume, or the request.
func (e *expressions) claims() string {
	var all []string
	if e.has[volumeMetric] && e.has[claimInfo] {
		all = append(all, maxBy(claimKey, e.now(claimKey+",volumename", claimInfo, `volumename!=""`)+
			` * on (volumename) group_left () label_replace(`+e.now("persistentvolume", volumeMetric)+`,"volumename","$1","persistentvolume","(.+)")`))
	}
	return union(append(all, e.now(claimKey, claimMetric))...)
}

// mounts split each step of a claim among the pods that mount it and run.
func (e *expressions) mounts() string {
	pods := e.now(claimKey+",pod,uid", mountMetric, `persistentvolumeclaim!=""`)
	if e.has[phaseMetric] {
		pods = "(" + pods + " and on (" + podKey + ") (" + e.running() + " == 1))"
	}
	pods = "(" + pods + " and on (" + claimKey + ") " + e.claims() + ")"
	return fmt.Sprintf("floor(%d * %s / on (%s) group_left () count by (%s) (%s))", mountParts, pods, claimKey, claimKey, pods)
}

// nodes are their capacity by resource, and without one 1 for each step.
func (e *expressions) nodes() string {
	labels := "node,resource"
	return union("round("+e.now(labels, capacityMetric, `resource="cpu"`)+" * 1000)", e.now(labels, capacityMetric, `resource!="cpu"`), e.now("node", capacityMetric)+" * 0 + 1")
}

// volumes are the sizes of those that no claim has.
func (e *expressions) volumes() string {
	return withHours("((" + e.now("persistentvolume", volumePhase, `phase=~"Available|Released|Failed"`) + " == 1) * on (persistentvolume) " + e.now("persistentvolume", volumeMetric) + ")")
}

// quantity is what is summed over the steps of a window.
type quantity struct {
	name string
	// by are the labels of its rows; none where it has a single one.
	by string
	// needs are the metrics of which the server has to have one.
	needs []string
	expr  string
	take  func(*windowState, row)
	// ofCluster says that it has no namespace.
	ofCluster bool
	// late says that its query needs the labels by which others name pods.
	late bool
}

// quantities returns all quantities of a window.
func (e *expressions) quantities(whole bool) []quantity {
	hours := e.sampled(e.memory(podKey) + " * 0 + 1")
	if e.has[phaseMetric] {
		hours = e.sampled(e.running())
	}
	podResource, containerResource := podKey+",resource", containerKey+",resource"
	used := func(p *pod, _ row) *Amounts { return &p.Used }
	all := []quantity{
		{name: "pod_running", by: podKey, needs: []string{phaseMetric, memoryMetric}, expr: hours, take: func(s *windowState, r row) {
			p := s.podOf(r)
			p.Hours, p.ran = p.Hours.Add(r.amount()), true
		}},
		{name: "container_cpu_used", by: containerKey, needs: []string{cpuMetric}, expr: e.cpu(containerKey), take: takeUsage(CPU)},
		{name: "container_memory_used", by: containerKey, needs: []string{memoryMetric}, expr: e.sampled(e.memory(containerKey)), take: takeUsage(Memory)},
		{name: "pod_network_received", by: podKey, needs: []string{receiveMetric}, expr: e.traffic(receiveMetric), take: take(Received, used)},
		{name: "pod_network_sent", by: podKey, needs: []string{transmitMetric}, expr: e.traffic(transmitMetric), take: take(Sent, used)},
		{
			name: "container_requested", by: containerResource, needs: []string{requestsMetric}, expr: e.times(e.containers(requestsMetric, initRequests)),
			take: take("", func(p *pod, r row) *Amounts { return &p.containerOf(r).Requested }),
		},
		{
			name: "container_limited", by: containerResource, needs: []string{limitsMetric}, expr: e.times(e.withOverhead(e.containers(limitsMetric, initLimits))),
			take: take("", func(p *pod, r row) *Amounts {
				if r.labels["container"] == overheadName {
					return &p.overhead
				}
				return &p.containerOf(r).Limited
			}),
		},
		{name: "pod_requested", by: podResource, needs: []string{requestsMetric}, expr: e.times(e.requests()), take: take("", func(p *pod, _ row) *Amounts { return &p.Requested })},
		{name: "claim_size", by: claimKey + ",of", needs: []string{claimMetric}, expr: withHours(e.claims()), take: func(s *windowState, r row) {
			c := s.claimOf(r)
			takeSize(r, &c.Claimed, &c.Hours)
		}},
		{name: "claim_mounted", by: claimKey + ",pod,uid", needs: []string{mountMetric}, expr: e.mounts(), take: (*windowState).takeMount},
		{name: "claim_used", by: claimKey, needs: []string{claimUsage}, expr: e.now(claimKey, claimUsage), take: func(s *windowState, r row) {
			c := s.claimOf(r)
			c.Used, c.UsedKnown = c.Used.Add(r.amount()), true
		}},
		{name: "balancer_hours", by: "namespace,service", needs: []string{balancerMetric}, expr: e.now("namespace,service", balancerMetric) + " * 0 + 1", take: (*windowState).takeBalancer},
		{name: "node_capacity", by: "node,resource", needs: []string{capacityMetric}, expr: e.nodes(), ofCluster: true, take: (*windowState).takeCapacity},
		{
			name: "pod_charged", by: podResource, needs: []string{requestsMetric, cpuMetric, memoryMetric}, expr: e.charged(), late: true,
			take: take("", func(p *pod, _ row) *Amounts { return &p.Charged }),
		},
	}
	return slices.DeleteFunc(append(all, e.clusterQuantities(whole)...), func(q quantity) bool {
		return !slices.ContainsFunc(q.needs, func(name string) bool { return e.has[name] })
	})
}

// clusterQuantities are those of no pod.
func (e *expressions) clusterQuantities(whole bool) (all []quantity) {
	if whole {
		all = append(all, quantity{name: "volume_unclaimed", by: "persistentvolume,of", needs: []string{volumePhase}, expr: e.volumes(), ofCluster: true, take: func(s *windowState, r row) {
			v := s.volumeOf(r)
			takeSize(r, &v.Claimed, &v.Hours)
		}})
	}
	if e.has[memoryMetric] && e.has[phaseMetric] {
		all = append(all, quantity{name: "pod_gaps", by: "namespace,pod", needs: []string{memoryMetric}, expr: e.gaps(), take: func(s *windowState, r row) {
			s.gaps[podRef(r.labels["namespace"], r.labels["pod"])] += r.value
		}})
	}
	return append(all, quantity{
		name: "steps", needs: []string{memoryMetric, cpuMetric, phaseMetric}, expr: e.sampledSteps(), ofCluster: true,
		take: func(s *windowState, r row) { s.steps += r.value },
	})
}

// metrics are all that queries name: those of Inspect, and those that a server has only if pods have
// init containers, limits or overhead, or that say what others do.
func (e *expressions) metrics() []string {
	all := []string{initRequests, limitsMetric, initLimits, initRunning, initInfo, overheadCPU, overheadMemory, runningMetric, "kube_persistentvolume_info", "kube_node_info"}
	for _, m := range required() {
		if m.Source != recordingRules {
			all = append(all, m.Metric)
		}
	}
	return all
}

// fact is the last value of a metric within a time.
func (e *expressions) fact(name, labels string, length time.Duration) string {
	x := e.own(labels, name, e.last(length, 0, name))
	if labels == "" {
		return x
	}
	return maxBy(labels, x)
}
