package autoscale_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscale"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// The definition of ScaledObject, and a VerticalPodAutoscaler of another workload: both are served.
const (
	keda = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: scaledobjects.keda.sh, annotations: {sysop.dev/relationships: '- {to: "*", relation: serves, field: spec.scaleTargetRef}'}}
spec: {group: keda.sh, scope: Namespaced, names: {kind: ScaledObject, plural: scaledobjects}, versions: [{name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}
`
	vpa = `---
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: other, namespace: other}
spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: other}}
`
	rabbit = `---
apiVersion: rabbitmq.com/v1beta1
kind: RabbitmqCluster
metadata: {name: rabbit, namespace: shop, uid: rabbit-1}
---
apiVersion: v1
kind: Service
metadata: {name: rabbit, namespace: shop, ownerReferences: [{apiVersion: rabbitmq.com/v1beta1, kind: RabbitmqCluster, name: rabbit, uid: rabbit-1, controller: true}]}
spec: {selector: {app: rabbit}, ports: [{port: 5672}]}
---
apiVersion: v1
kind: Secret
metadata: {name: rabbit-default-user, namespace: shop, ownerReferences: [{apiVersion: rabbitmq.com/v1beta1, kind: RabbitmqCluster, name: rabbit, uid: rabbit-1, controller: true}]}
---
apiVersion: rabbitmq.com/v1beta1
kind: Queue
metadata: {name: orders, namespace: shop}
spec: {name: orders, vhost: sales, rabbitmqClusterReference: {name: rabbit}}
`
	kafka = `---
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: events, namespace: shop, uid: kafka-1}
spec: {kafka: {listeners: [{name: plain, port: 9092, tls: false}, {name: tls, port: 9093, tls: true}, {name: scram, port: 9094, tls: false, authentication: {type: scram-sha-512}}]}}
---
apiVersion: v1
kind: Service
metadata: {name: events-kafka-bootstrap, namespace: shop, ownerReferences: [{apiVersion: kafka.strimzi.io/v1, kind: Kafka, name: events, uid: kafka-1, controller: true}]}
spec: {ports: [{port: 9092}]}
---
apiVersion: kafka.strimzi.io/v1
kind: KafkaTopic
metadata: {name: orders, namespace: shop, labels: {strimzi.io/cluster: events}}
spec: {topicName: shop.orders, partitions: 4}
`
)

// fieldsOf returns the spec of custom resources of a text.
func fieldsOf(t *testing.T, text string) func(object.Ref) map[string]any {
	t.Helper()
	all := map[object.Ref]map[string]any{}
	for doc := range strings.SplitSeq(text, "---\n") {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &u.Object); err != nil {
			t.Fatal(err)
		}
		for _, path := range [][]string{{"spec", "partitions"}, {"spec", "minReplicaCount"}} {
			if n, found, _ := unstructured.NestedFloat64(u.Object, path...); found {
				_ = unstructured.SetNestedField(u.Object, int64(n), path...)
			}
		}
		listeners, _, _ := unstructured.NestedSlice(u.Object, "spec", "kafka", "listeners")
		for i := range listeners {
			l := listeners[i].(map[string]any)
			l["port"] = int64(l["port"].(float64))
		}
		if len(listeners) > 0 {
			_ = unstructured.SetNestedSlice(u.Object, listeners, "spec", "kafka", "listeners")
		}
		if u.Object != nil {
			all[object.RefOf(u)] = u.Object
		}
	}
	return func(r object.Ref) map[string]any { return all[r] }
}

// env is the environment of the container of web.
func env(variables ...string) string { return ", env: [" + strings.Join(variables, ", ") + "]" }

// TestQueue: KEDA scales by a queue where variables and objects say all of it, and a HorizontalPodAutoscaler
// scales where something is lacking, which is said.
func TestQueue(t *testing.T) {
	const (
		url      = `{name: BROKER_URL, value: "amqp://rabbit:5672/sales"}`
		password = `{name: BROKER_URL, value: "amqp://me:secret@rabbit"}`
		full     = `{name: BROKER_URL, value: "amqp://me:secret@rabbit.shop.svc"}`
		secret   = `{name: BROKER_URL, valueFrom: {secretKeyRef: {name: rabbit-default-user, key: connection_string}}}`
		queue    = `{name: WORK, value: orders}`
		named    = `{name: TASK_QUEUE, value: mails}`
		servers  = `{name: KAFKA_BOOTSTRAP_SERVERS, value: "events-kafka-bootstrap:9092"}`
		tls      = `{name: KAFKA_BOOTSTRAP_SERVERS, value: "events-kafka-bootstrap:9093"}`
		scram    = `{name: KAFKA_BOOTSTRAP_SERVERS, value: "events-kafka-bootstrap:9094"}`
		topic    = `{name: INPUT, value: shop.orders}`
		group    = `{name: KAFKA_GROUP_ID, value: shop}`
		service  = "---\napiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n"
		ingress  = "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web, namespace: shop}\nspec: {defaultBackend: {service: {name: web, port: {number: 80}}}}\n"
		owned    = ", labels: {sysop.dev/installed-by: shop-autoscaling}"
		hpa      = "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: shop" + owned + "}\nspec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n"
		scaled   = "---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: web, namespace: shop, uid: so-1OWN}\nspec: {minReplicaCount: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n" +
			"---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: keda-hpa-web, namespace: shop, ownerReferences: [{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, name: web, uid: so-1, controller: true}]}\nspec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n"
	)
	for name, c := range map[string]struct {
		env      string
		more     string
		triggers string // of KEDA; empty for an HPA
		says     string
		refusal  string
		max      int
	}{
		"a declared queue":                 {env(url, queue), keda + rabbit, "rabbitmq host=amqp://rabbit.shop.svc:5672/sales mode=QueueLength protocol=auto queueName=orders value=20 vhostName=sales", "the queue orders (20 messages a pod", "", 3},
		"a queue of a variable":            {env(url, named), keda + rabbit, "rabbitmq host=amqp://rabbit.shop.svc:5672/sales mode=QueueLength protocol=auto queueName=mails value=20", "", "", 3},
		"two queues":                       {env(url, queue, named), keda + rabbit, "rabbitmq host=amqp://rabbit.shop.svc:5672/sales mode=QueueLength protocol=auto queueName=orders value=20 vhostName=sales; rabbitmq host=amqp://rabbit.shop.svc:5672/sales mode=QueueLength protocol=auto queueName=mails value=20", "", "", 3},
		"the address is in a Secret":       {env(secret, queue), keda + rabbit, "rabbitmq hostFromEnv=BROKER_URL mode=QueueLength protocol=auto queueName=orders value=20 vhostName=sales", "", "", 3},
		"a password, the whole host":       {env(full, queue), keda + rabbit, "rabbitmq hostFromEnv=BROKER_URL mode=QueueLength protocol=auto queueName=orders value=20 vhostName=sales", "", "", 3},
		"a password, a short host":         {env(password, queue), keda + rabbit, "", "no variable has the address of the broker", "", 3},
		"no queue":                         {env(url), keda + rabbit, "", "no variable names a queue", "", 3},
		"requests arrive at it":            {env(url, queue), keda + rabbit + service, "", "Service/web leads to it", "", 3},
		"requests by HTTP":                 {"", keda + service + ingress, "", "Ingress/web leads to it, and KEDA could scale it by the rate of HTTP requests", "", 3},
		"requests by HTTP, without KEDA":   {"", service + ingress, "", "", "", 3},
		"no KEDA":                          {env(url, queue), rabbit, "", "the cluster does not serve ScaledObject; kubectl sysop install keda", "", 3},
		"a topic":                          {env(servers, topic, group), keda + kafka, "kafka bootstrapServers=events-kafka-bootstrap.shop.svc:9092 consumerGroup=shop lagThreshold=10 topic=shop.orders", "the lag of group shop on topic shop.orders", "", 3},
		"no consumer group":                {env(servers, topic), keda + kafka, "", "no variable names the consumer group", "", 3},
		"no topic":                         {env(servers, group), keda + kafka, "", "no variable names a topic", "", 3},
		"a listener with TLS":              {env(tls, topic, group), keda + kafka, "", "spec.kafka.listeners[1].tls of Kafka/events is set: a TriggerAuthentication is needed", "", 3},
		"a listener with a password":       {env(scram, topic, group), keda + kafka, "", "spec.kafka.listeners[2].authentication of Kafka/events is set", "", 3},
		"more pods than partitions":        {env(servers, topic, group), keda + strings.Replace(kafka, "partitions: 4", "partitions: 2", 1), "kafka bootstrapServers=events-kafka-bootstrap.shop.svc:9092 consumerGroup=shop lagThreshold=10 topic=shop.orders", "max 2 instead of 3: a topic has 2 partitions", "", 2},
		"a queue of dead letters":          {env(url, `{name: ORDERS_DEAD_QUEUE, value: mails}`), keda + rabbit, "", "no variable names a queue that it reads: by its name ORDERS_DEAD_QUEUE names one that it writes to", "", 3},
		"a queue of replies":               {env(url, `{name: orders.reply.queue, value: mails}`, `{name: RPC_REPLY_TO, value: orders}`), keda + rabbit, "", "by their names orders.reply.queue, RPC_REPLY_TO name one that it writes to", "", 3},
		"a declared queue that it fills":   {env(url, `{name: PUBLISH_TO, value: orders}`), keda + rabbit, "", "by its name PUBLISH_TO names one", "", 3},
		"a queue that it reads and fills":  {env(url, `{name: OUT_QUEUE, value: orders}`, queue), keda + rabbit, "rabbitmq host=amqp://rabbit.shop.svc:5672/sales mode=QueueLength protocol=auto queueName=orders value=20 vhostName=sales", "", "", 3},
		"a list of queues":                 {env(url, `{name: QUEUES, value: "orders, mails"}`), keda + rabbit, "rabbitmq host=amqp://rabbit.shop.svc:5672/sales mode=QueueLength protocol=auto queueName=orders value=20 vhostName=sales; rabbitmq host=amqp://rabbit.shop.svc:5672/sales mode=QueueLength protocol=auto queueName=mails value=20", "", "", 3},
		"a topic that it fills":            {env(servers, `{name: ORDERS_TOPIC_OUT, value: shop.orders}`, `{name: PRODUCER_TOPIC, value: mails}`, group), keda + kafka, "", "by their names ORDERS_TOPIC_OUT, PRODUCER_TOPIC name one that it writes to", "", 3},
		"a list of topics":                 {env(servers, `{name: TOPICS, value: "shop.orders,mails"}`, group), keda + kafka, "kafka bootstrapServers=events-kafka-bootstrap.shop.svc:9092 consumerGroup=shop lagThreshold=10 topic=shop.orders; kafka bootstrapServers=events-kafka-bootstrap.shop.svc:9092 consumerGroup=shop lagThreshold=10 topic=mails", "", "", 3},
		"a pattern of topics":              {env(servers, `{name: TOPICS, value: "shop[.].*"}`, group), keda + kafka, "", "a variable names shop[.].*, which is no name of a topic", "", 3},
		"several groups":                   {env(servers, topic, group, `{name: LOG_GROUP, value: shop-logs}`), keda + kafka, "", "KAFKA_GROUP_ID and LOG_GROUP name different groups, and no field says which of them reads the topic", "", 3},
		"one group twice":                  {env(servers, topic, group, `{name: CONSUMER_GROUP, value: shop}`), keda + kafka, "kafka bootstrapServers=events-kafka-bootstrap.shop.svc:9092 consumerGroup=shop lagThreshold=10 topic=shop.orders", "", "", 3},
		"an HPA of ours":                   {env(url, queue), keda + rabbit + hpa, "", "HorizontalPodAutoscaler/web of an earlier run scales it", "", 3},
		"an HPA of others":                 {env(url, queue), keda + rabbit + strings.Replace(hpa, owned, "", 1), "", "", "Scaled: HorizontalPodAutoscaler/web scales it already", 0},
		"a ScaledObject of others":         {"", keda + strings.Replace(scaled, "OWN", "", 1), "", "", "Scaled: ScaledObject/web scales it already", 0},
		"a ScaledObject of ours":           {env(url, queue), keda + rabbit + strings.Replace(scaled, "OWN", owned, 1), "rabbitmq host=amqp://rabbit.shop.svc:5672/sales mode=QueueLength protocol=auto queueName=orders value=20 vhostName=sales", "at least 2, since ScaledObject/web has several as well", "", 3},
		"a ScaledObject without its queue": {env(url), keda + rabbit + strings.Replace(scaled, "OWN", owned, 1), "", "", "Scaled: ScaledObject/web of an earlier run scales it by a queue or by requests, which are unknown now", 0},
	} {
		t.Run(name, func(t *testing.T) {
			text := deployment("web", 1, requests, c.env) + c.more
			w := world(t, text)
			w.Fields = fieldsOf(t, text)
			w.Usage[web] = used(1, 60, 60)
			p := autoscale.Propose(w)
			if c.refusal != "" {
				if len(p.Refusals) != 1 || !strings.HasPrefix(p.Refusals[0].Reason+": "+p.Refusals[0].Message, c.refusal) || len(p.Objects()) > 0 {
					t.Errorf("refusals %+v, want %s; proposals %+v", p.Refusals, c.refusal, p.Proposals)
				}
				return
			}
			r := p.Proposals[0]
			var triggers []string
			for _, trigger := range r.Triggers {
				parts := []string{}
				for k, v := range trigger.Metadata {
					parts = append(parts, k+"="+v)
				}
				slices.Sort(parts)
				triggers = append(triggers, trigger.Type+" "+strings.Join(parts, " "))
			}
			if got := strings.Join(triggers, "; "); got != c.triggers || (r.Scaler == autoscale.Queue) != (c.triggers != "") || r.Max != c.max {
				t.Errorf("%s to %d with triggers\n%s, want\n%s\n%q", r.Scaler, r.Max, got, c.triggers, r.Reasons)
			}
			if all := strings.Join(r.Reasons, "\n"); !strings.Contains(all, c.says) || !strings.Contains(c.more, keda) && strings.Contains(all, "HTTP") {
				t.Errorf("no %q in %q", c.says, r.Reasons)
			}
			if kind := p.Objects()[0].GetKind(); kind != r.Scaler {
				t.Errorf("a %s is made, want %s", kind, r.Scaler)
			}
		})
	}
}

// TestBudgetOfQueue: a budget bounds the maxima of what KEDA scales too.
func TestBudgetOfQueue(t *testing.T) {
	text := deployment("web", 1, requests, env(`{name: BROKER_URL, value: "amqp://rabbit:5672"}`, `{name: WORK, value: orders}`)) + keda + rabbit
	w := world(t, text)
	w.Fields, w.Window, w.Total, w.Defaults.Budget = fieldsOf(t, text), true, decimal.NewFromInt(10), "25"
	w.PodCost[web], w.Usage[web] = decimal.NewFromInt(10), used(1, 60, 280)
	p := autoscale.Propose(w)
	if r := p.Proposals[0]; r.Scaler != autoscale.Queue || r.Max != 2 || p.Whole.Max != "20.00" {
		t.Errorf("%s to %d, at most %s", r.Scaler, r.Max, p.Whole.Max)
	}
}

// TestPublishedFields: the fields of ScaledObjects and VerticalPodAutoscalers are those of the published
// definitions, and the required ones are there.
func TestPublishedFields(t *testing.T) {
	text := deployment("web", 1, requests, env(`{name: BROKER_URL, valueFrom: {secretKeyRef: {name: rabbit-default-user, key: connection_string}}}`, `{name: WORK, value: orders}`)) +
		strings.NewReplacer("kind: Deployment", "kind: StatefulSet", ", kind: Deployment", ", kind: StatefulSet").Replace(deployment("db", 1, requests, "")) + keda + rabbit + vpa
	w := world(t, text)
	w.Fields = fieldsOf(t, text)
	w.Usage[web] = used(1, 60, 60)
	definitions := published(t)
	var made []string
	for _, o := range autoscale.Propose(w).Objects() {
		made = append(made, o.GetKind())
		for _, problem := range definitions[o.GetKind()+" "+o.GetAPIVersion()].check(o.Object["spec"], "spec") {
			t.Errorf("%s: %s", o.GetKind(), problem)
		}
		mode, _, _ := unstructured.NestedString(o.Object, "spec", "updatePolicy", "updateMode")
		if o.GetKind() == autoscale.Vertical && mode != "Off" {
			t.Errorf("updateMode %q", mode)
		}
	}
	if slices.Sort(made); strings.Join(made, " ") != "ScaledObject VerticalPodAutoscaler" {
		t.Errorf("made %v", made)
	}
	wrong := map[string]any{"targetRef": map[string]any{"name": "x"}, "updatePolicy": map[string]any{"updateMode": "No", "other": int64(1)}}
	if got := definitions["VerticalPodAutoscaler autoscaling.k8s.io/v1"].check(wrong, "spec"); len(got) != 3 {
		t.Errorf("a wrong object has the problems %q", got)
	}
}

// definition is the type of each field of a kind, and which are required.
type definition struct {
	types    map[string]string
	required map[string]bool
}

// published reads testdata/scalers.fields.
func published(t *testing.T) map[string]*definition {
	t.Helper()
	text, err := os.ReadFile("testdata/scalers.fields")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*definition{}
	var d *definition
	for line := range strings.Lines(string(text)) {
		switch words := strings.Fields(line); {
		case len(words) == 0 || words[0] == "#":
		case words[0] == "kind":
			d = &definition{map[string]string{}, map[string]bool{}}
			out[words[1]+" "+words[2]] = d
		default:
			d.types[words[0]], d.required[words[0]] = words[1], len(words) > 2
		}
	}
	return out
}

// check finds values that the definition lacks, and required ones that are missing.
func (d *definition) check(value any, path string) (problems []string) {
	if list, isList := value.([]any); isList {
		for _, item := range list {
			problems = append(problems, d.check(item, path+"[]")...)
		}
		return problems
	}
	kind, known := d.types[path]
	kind, values, listed := strings.Cut(kind, "=")
	if !known {
		return []string{path + " is not defined"}
	}
	var fits bool
	switch v := value.(type) {
	case map[string]any:
		fits = kind == "object"
		for key, inner := range v {
			at := path + "." + key
			if _, isMap := d.types[path+"{}"]; isMap {
				at = path + "{}"
			}
			problems = append(problems, d.check(inner, at)...)
		}
		for at := range d.required {
			name, direct := strings.CutPrefix(at, path+".")
			if _, has := v[strings.TrimSuffix(name, "[]")]; direct && d.required[at] && !strings.Contains(name, ".") && !has {
				problems = append(problems, at+" is missing")
			}
		}
	case string:
		fits = kind == "string" && (!listed || slices.Contains(strings.Split(values, "|"), v))
	case int64:
		fits = kind == "integer"
	case bool:
		fits = kind == "boolean"
	}
	if !fits {
		problems = append(problems, fmt.Sprintf("%s is %v, want %s %s", path, value, kind, values))
	}
	return problems
}

// TestStatusOfQueue: the HPA that KEDA makes shows the length of the queue.
func TestStatusOfQueue(t *testing.T) {
	quantity := func(s string) *resource.Quantity { q := resource.MustParse(s); return &q }
	metric := autoscalingv2.MetricIdentifier{Name: "s0-rabbitmq-orders"}
	h := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "keda-hpa-web"},
		Spec:       autoscalingv2.HorizontalPodAutoscalerSpec{Metrics: []autoscalingv2.MetricSpec{{Type: "External", External: &autoscalingv2.ExternalMetricSource{Metric: metric, Target: autoscalingv2.MetricTarget{AverageValue: quantity("20")}}}}},
		Status:     autoscalingv2.HorizontalPodAutoscalerStatus{CurrentMetrics: []autoscalingv2.MetricStatus{{Type: "External", External: &autoscalingv2.ExternalMetricStatus{Metric: metric, Current: autoscalingv2.MetricValueStatus{AverageValue: quantity("7500m")}}}}},
	}
	if s := autoscale.StatusOf(h, web, decimal.Zero, ""); strings.Join(s.Metrics, "") != "s0-rabbitmq-orders 7.5 of 20 a pod" {
		t.Errorf("metrics %q", s.Metrics)
	}
}
