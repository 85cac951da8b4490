package autoscale

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Trigger is a queue, or a rate of requests, by which KEDA scales a target, beside its utilization.
type Trigger struct {
	// Type is rabbitmq, kafka or prometheus, a scaler of KEDA.
	Type string `json:"type"`
	// Metadata are the parameters of the scaler.
	Metadata map[string]string `json:"metadata"`

	// container has the variable that Metadata names; empty for none.
	container string
}

// How many messages of a queue one pod is for: the defaults of the scalers of KEDA.
const (
	rabbitMessages = 20
	kafkaMessages  = 10
)

// The kinds of brokers, and of what they contain.
var (
	rabbitKind = schema.GroupKind{Group: "rabbitmq.com", Kind: "RabbitmqCluster"}
	queueKind  = schema.GroupKind{Group: "rabbitmq.com", Kind: "Queue"}
	kafkaKind  = schema.GroupKind{Group: "kafka.strimzi.io", Kind: "Kafka"}
	topicKind  = schema.GroupKind{Group: "kafka.strimzi.io", Kind: "KafkaTopic"}
)

// Names of variables that say a queue, a topic, a consumer group, and one that the program writes to.
var (
	queueName  = regexp.MustCompile(`(?i)(^|[_.-])QUEUES?([_.-]?NAMES?)?$`)
	topicName  = regexp.MustCompile(`(?i)(^|[_.-])TOPICS?([_.-]?NAMES?)?$`)
	groupName  = regexp.MustCompile(`(?i)(^|[_.-])GROUP([_.-]?(ID|NAME))?$`)
	writerName = regexp.MustCompile(`(?i)(^|[_.-])(DEAD|DEAD_?LETTERS?|DL[QXT]|REPLY|REPLIES|RESPONSES?|OUT|OUTPUTS?|OUTGOING|OUTBOUND|OUTBOX|PUBLISH(ER|ES)?|PRODUCERS?|PRODUCES?|SINK|DESTINATION)([_.-]|$)`)
)

// legalTopic is what Kafka accepts as the name of a topic.
var legalTopic = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)

// addQueue lets KEDA scale a proposal by the queue that it reads, if the facts say all that this needs,
// and says what is lacking otherwise.
func (p *planner) addQueue(app *App, r *Proposal) {
	_, served := p.State.Kinds.Kind(scaledObjectKind)
	broker, evidence, found := p.brokerOf(r.workload)
	if !found {
		p.addRequests(r)
		return
	}
	say := func(format string, args ...any) {
		r.Reasons = append(r.Reasons, fmt.Sprintf("it uses %s (%s), and KEDA could scale it by the length of its queue: ", short(broker), evidence)+fmt.Sprintf(format, args...))
	}
	if !served {
		say("the cluster does not serve ScaledObject; kubectl sysop install keda")
		return
	}
	q := queueFacts{p, r.workload, broker}
	var triggers []Trigger
	var missing string
	var most int64
	if broker.GroupKind() == rabbitKind {
		triggers, missing = q.rabbit()
	} else {
		triggers, most, missing = q.kafka()
	}
	switch {
	case missing != "":
		say("%s", missing)
		return
	case r.Exists.GroupKind() == horizontalKind:
		say("%s of an earlier run scales it; autoscale remove, then apply sets that up", short(r.Exists))
		return
	}
	r.Scaler, r.Triggers = Queue, triggers
	for _, t := range triggers {
		r.Reasons = append(r.Reasons, fmt.Sprintf("KEDA scales it by %s as well: it uses %s (%s)", t.text(), short(broker), evidence))
	}
	if most := int(most); most > 0 && most < r.Max && app.Settings.Max == 0 {
		r.Reasons = append(r.Reasons, fmt.Sprintf("max %d instead of %d: a topic has %d partitions, and more consumers are idle", max(most, r.Min), r.Max, most))
		r.Max = max(most, r.Min)
		r.Usual = min(r.Usual, r.Max)
	}
}

// text is a trigger for people.
func (t *Trigger) text() string {
	if t.Type == "kafka" {
		return fmt.Sprintf("the lag of group %s on topic %s (%s messages a pod, KEDA's default)", t.Metadata["consumerGroup"], t.Metadata["topic"], t.Metadata["lagThreshold"])
	}
	return fmt.Sprintf("the queue %s (%s messages a pod, KEDA's default)", t.Metadata["queueName"], t.Metadata["value"])
}

// brokerOf is the broker that a workload depends on, itself or by a Service or Secret of it, and the
// evidence.
func (p *planner) brokerOf(wl *check.Workload) (object.Ref, string, bool) {
	id, ok := p.Graph.Find(wl.Ref)
	if !ok {
		return object.Ref{}, "", false
	}
	for e := range p.Graph.Out(id) {
		top := p.State.Top(p.Graph.Ref(e.To))
		if gk := top.GroupKind(); (gk == rabbitKind || gk == kafkaKind) && !slices.Contains(p.State.Owners(wl.Ref), top) {
			return top, e.Why(), true
		}
	}
	return object.Ref{}, "", false
}

// queueFacts are what the variables of a workload and the objects of its broker say of a queue.
type queueFacts struct {
	*planner
	wl     *check.Workload
	broker object.Ref
}

// variables visits the variables of the containers, with those whose value is known.
func (q *queueFacts) variables(visit func(container string, e *corev1.EnvVar)) {
	for _, c := range containersOf(q.wl) {
		for i := range c.Env {
			if e := &c.Env[i]; !strings.Contains(e.Value, "$(") {
				visit(c.Name, e)
			}
		}
	}
}

// names are the queues or topics that variables say by their names, or by a declared value, in order.
// Those of a variable that by its name says what the program writes to are not among them: writers are
// such variables. A value may be a list.
func (q *queueFacts) names(variable *regexp.Regexp, declared func(string) bool) (read, writers []string) {
	q.variables(func(_ string, e *corev1.EnvVar) {
		all := strings.Split(e.Value, ",")
		for i := range all {
			all[i] = strings.TrimSpace(all[i])
		}
		all = slices.DeleteFunc(all, func(name string) bool { return name == "" })
		switch undeclared := slices.ContainsFunc(all, func(name string) bool { return !declared(name) }); {
		case len(all) == 0 || undeclared && !variable.MatchString(e.Name):
		case writerName.MatchString(e.Name):
			writers = append(writers, e.Name)
		default:
			for _, name := range all {
				if !slices.Contains(read, name) {
					read = append(read, name)
				}
			}
		}
	})
	return read, writers
}

// unnamed says that no variable names a queue or topic that a workload reads.
func unnamed(kind string, writers []string) string {
	switch len(writers) {
	case 0:
		return "no variable names a " + kind
	case 1:
		return fmt.Sprintf("no variable names a %s that it reads: by its name %s names one that it writes to", kind, writers[0])
	}
	return fmt.Sprintf("no variable names a %s that it reads: by their names %s name one that it writes to", kind, strings.Join(writers, ", "))
}

// rabbit are the triggers of the queues that a workload reads, or what is lacking.
func (q *queueFacts) rabbit() ([]Trigger, string) {
	if services := q.servicesOf(q.wl); len(services) > 0 {
		return nil, fmt.Sprintf("no field says that it reads the queue: %s leads to it, so it may be what fills the queue", short(services[0]))
	}
	address, container := q.address()
	if address == nil {
		return nil, "no variable has the address of the broker: an amqp:// URL of a Service of it, without a password unless its host names the namespace, or the key connection_string of its Secret"
	}
	queues := q.queues()
	names, writers := q.names(queueName, func(name string) bool { _, declared := queues[name]; return declared })
	if len(names) == 0 {
		return nil, unnamed("queue", writers)
	}
	var out []Trigger
	for _, name := range names {
		t := Trigger{Type: "rabbitmq", Metadata: map[string]string{"protocol": "auto", "mode": "QueueLength", "value": strconv.Itoa(rabbitMessages), "queueName": name}, container: container}
		maps.Copy(t.Metadata, address)
		if vhost := queues[name]; vhost != "" {
			t.Metadata["vhostName"] = vhost
		}
		out = append(out, t)
	}
	return out, ""
}

// servicesOf are the Services that lead to the pods of a workload.
func (w *World) servicesOf(wl *check.Workload) []object.Ref {
	var out []object.Ref
	for _, pod := range wl.Pods {
		out = append(out, w.State.Serving(object.Ref{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}, schema.GroupKind{Kind: "Service"})...)
	}
	return out
}

// queues are the virtual hosts of the queues of the broker, by the name of the queue.
func (q *queueFacts) queues() map[string]string {
	out := map[string]string{}
	for id := range q.Graph.OfKind(queueKind) {
		ref := q.Graph.Ref(id)
		fields := q.Fields(ref)
		cluster, _, _ := unstructured.NestedString(fields, "spec", "rabbitmqClusterReference", "name")
		namespace, _, _ := unstructured.NestedString(fields, "spec", "rabbitmqClusterReference", "namespace")
		name, _, _ := unstructured.NestedString(fields, "spec", "name")
		if name != "" && cluster == q.broker.Name && cmp.Or(namespace, ref.Namespace) == q.broker.Namespace {
			out[name], _, _ = unstructured.NestedString(fields, "spec", "vhost")
		}
	}
	return out
}

// address is the parameter host of RabbitMQ, or hostFromEnv with the container of the variable; nil
// where no variable has it. KEDA runs in a namespace of its own, so the host names that of the broker.
func (q *queueFacts) address() (parameter map[string]string, container string) {
	q.variables(func(c string, e *corev1.EnvVar) {
		if parameter != nil {
			return
		}
		if from := e.ValueFrom; from != nil && from.SecretKeyRef != nil {
			secret := object.Ref{Kind: "Secret", Namespace: q.wl.Ref.Namespace, Name: from.SecretKeyRef.Name}
			if from.SecretKeyRef.Key == "connection_string" && q.State.Top(secret) == q.broker {
				parameter, container = map[string]string{"hostFromEnv": e.Name}, c
			}
			return
		}
		u, err := url.Parse(e.Value)
		if err != nil || u.Scheme != "amqp" && u.Scheme != "amqps" {
			return
		}
		switch full := q.host(u.Hostname()); {
		case full == "":
		case full == u.Hostname():
			parameter, container = map[string]string{"hostFromEnv": e.Name}, c
		case u.User == nil:
			u.Host = strings.Replace(u.Host, u.Hostname(), full, 1)
			parameter = map[string]string{"host": u.String()}
		}
	})
	return parameter, container
}

// host is a host with its namespace, if it is a Service of the broker; empty otherwise.
func (q *queueFacts) host(name string) string {
	parts := strings.Split(name, ".")
	svc := object.Ref{Kind: "Service", Namespace: q.wl.Ref.Namespace, Name: parts[0]}
	if len(parts) > 1 {
		svc.Namespace = parts[1]
	}
	switch {
	case q.State.Top(svc) != q.broker:
		return ""
	case len(parts) > 1:
		return name
	}
	return svc.Name + "." + svc.Namespace + ".svc"
}

// kafka are the triggers of the topics that a workload reads, with the partitions of the largest one
// (0 where they are unknown), or what is lacking.
func (q *queueFacts) kafka() (triggers []Trigger, partitions int64, missing string) {
	var servers string
	var groups, sources []string
	known := q.topics()
	q.variables(func(_ string, e *corev1.EnvVar) {
		switch {
		case e.Value == "":
		case q.servers(e.Value) != "":
			servers = q.servers(e.Value)
		case groupName.MatchString(e.Name) && !slices.Contains(groups, e.Value):
			groups, sources = append(groups, e.Value), append(sources, e.Name)
		}
	})
	topics, writers := q.names(topicName, func(name string) bool { _, declared := known[name]; return declared })
	illegal := slices.IndexFunc(topics, func(name string) bool { return !legalTopic.MatchString(name) })
	switch {
	case len(groups) == 0:
		return nil, 0, "no variable names the consumer group"
	case len(groups) > 1:
		return nil, 0, strings.Join(sources, " and ") + " name different groups, and no field says which of them reads the topic"
	case len(topics) == 0:
		return nil, 0, unnamed("topic", writers)
	case illegal >= 0:
		return nil, 0, fmt.Sprintf("a variable names %s, which is no name of a topic", topics[illegal])
	case servers == "":
		return nil, 0, "no variable has the address of a listener of it"
	}
	if field := q.secured(servers); field != "" {
		return nil, 0, field + " is set: a TriggerAuthentication is needed, which has to be written by hand"
	}
	for _, topic := range topics {
		triggers = append(triggers, Trigger{Type: "kafka", Metadata: map[string]string{"bootstrapServers": servers, "consumerGroup": groups[0], "topic": topic, "lagThreshold": strconv.Itoa(kafkaMessages)}})
		partitions = max(partitions, known[topic])
	}
	if slices.ContainsFunc(topics, func(topic string) bool { return known[topic] == 0 }) {
		partitions = 0
	}
	return triggers, partitions, ""
}

// topics are the partitions of the topics of the broker, by the name of the topic.
func (q *queueFacts) topics() map[string]int64 {
	out := map[string]int64{}
	for id := range q.Graph.OfKind(topicKind) {
		ref := q.Graph.Ref(id)
		if cluster, _ := q.Graph.Label(id, "strimzi.io/cluster"); cluster != q.broker.Name || ref.Namespace != q.broker.Namespace {
			continue
		}
		fields := q.Fields(ref)
		name, _, _ := unstructured.NestedString(fields, "spec", "topicName")
		out[cmp.Or(name, ref.Name)], _, _ = unstructured.NestedInt64(fields, "spec", "partitions")
	}
	return out
}

// servers are addresses of the broker with its namespace; empty where one is not of it.
func (q *queueFacts) servers(text string) string {
	var out []string
	for at := range strings.SplitSeq(text, ",") {
		host, port, err := net.SplitHostPort(strings.TrimSpace(at))
		full := q.host(host)
		if err != nil || full == "" {
			return ""
		}
		out = append(out, net.JoinHostPort(full, port))
	}
	return strings.Join(out, ",")
}

// secured is the field by which the listener at an address wants TLS or a password; empty for none.
func (q *queueFacts) secured(servers string) string {
	first, _, _ := strings.Cut(servers, ",")
	_, port, _ := net.SplitHostPort(first)
	listeners, _, _ := unstructured.NestedSlice(q.Fields(q.broker), "spec", "kafka", "listeners")
	for i, item := range listeners {
		l, _ := item.(map[string]any)
		if number, _, _ := unstructured.NestedInt64(l, "port"); strconv.FormatInt(number, 10) != port {
			continue
		}
		if tls, _, _ := unstructured.NestedBool(l, "tls"); tls {
			return fmt.Sprintf("spec.kafka.listeners[%d].tls of %s", i, short(q.broker))
		}
		if _, authenticated, _ := unstructured.NestedMap(l, "authentication"); authenticated {
			return fmt.Sprintf("spec.kafka.listeners[%d].authentication of %s", i, short(q.broker))
		}
	}
	return ""
}
