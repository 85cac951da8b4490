package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes/scheme"
)

// etcdLoader writes in transactions: each worker fills one of its own.
type etcdLoader struct {
	config
	client     *clientv3.Client
	core, apps runtime.Encoder
	now        metav1.Time
	pending    [][]clientv3.Op // by worker
	written    atomic.Int64
}

// object is what has both halves.
type object interface {
	runtime.Object
	metav1.Object
}

func loadEtcd(ctx context.Context, c config) (int64, error) {
	if err := c.check(); err != nil {
		return 0, err
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{c.etcd}, DialTimeout: 5 * time.Second, MaxCallSendMsgSize: 16 << 20})
	if err != nil {
		return 0, fmt.Errorf("connect to etcd: %w", err)
	}
	defer func() { _ = client.Close() }()
	pb := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	l := &etcdLoader{
		config: c, client: client,
		core:    scheme.Codecs.EncoderForVersion(pb, corev1.SchemeGroupVersion),
		apps:    scheme.Codecs.EncoderForVersion(pb, appsv1.SchemeGroupVersion),
		now:     metav1.NewTime(time.Now().Truncate(time.Second)),
		pending: make([][]clientv3.Op, c.workers),
	}
	for _, step := range []struct {
		count int
		load  func(context.Context, int, int) error
	}{
		{c.namespaces, l.namespace}, {c.deployments, l.deployment}, {c.configMaps, l.configMap},
	} {
		if err := each(ctx, c.workers, step.count, step.load); err != nil {
			return l.written.Load(), err
		}
		// A namespace must exist before its content.
		if err := each(ctx, c.workers, c.workers, func(ctx context.Context, _, w int) error { return l.flush(ctx, w) }); err != nil {
			return l.written.Load(), err
		}
	}
	return l.written.Load(), nil
}

// put adds the object to the worker's transaction under the key that the API
// server would use, and writes the transaction when it is full.
func (l *etcdLoader) put(ctx context.Context, worker int, e runtime.Encoder, resource string, o object) error {
	if o.GetUID() == "" {
		o.SetUID(uuid.NewUUID())
	}
	o.SetCreationTimestamp(l.now)
	raw, err := runtime.Encode(e, o)
	if err != nil {
		return fmt.Errorf("encode %s %s: %w", resource, o.GetName(), err)
	}
	key := l.prefix + "/" + resource + "/"
	if ns := o.GetNamespace(); ns != "" {
		key += ns + "/"
	}
	l.pending[worker] = append(l.pending[worker], clientv3.OpPut(key+o.GetName(), string(raw)))
	if len(l.pending[worker]) < l.batch {
		return nil
	}
	return l.flush(ctx, worker)
}

func (l *etcdLoader) flush(ctx context.Context, worker int) error {
	ops := l.pending[worker]
	if len(ops) == 0 {
		return nil
	}
	if _, err := l.client.Txn(ctx).Then(ops...).Commit(); err != nil {
		return fmt.Errorf("write to etcd: %w", err)
	}
	l.written.Add(int64(len(ops)))
	l.pending[worker] = ops[:0]
	return nil
}

func (l *etcdLoader) namespace(ctx context.Context, worker, i int) error {
	ns := l.namespaceObject(i)
	ns.Spec.Finalizers = []corev1.FinalizerName{corev1.FinalizerKubernetes}
	ns.Status.Phase = corev1.NamespaceActive
	return l.put(ctx, worker, l.core, "namespaces", ns)
}

func (l *etcdLoader) configMap(ctx context.Context, worker, i int) error {
	return l.put(ctx, worker, l.core, "configmaps", l.shape.configMap(i))
}

// deployment writes the whole tree, in the state in which its controllers
// would have left it.
func (l *etcdLoader) deployment(ctx context.Context, worker, i int) error {
	d := l.shape.deployment(i)
	replicas := *d.Spec.Replicas
	d.UID, d.Generation = uuid.NewUUID(), 1
	d.Annotations = map[string]string{"deployment.kubernetes.io/revision": "1"}
	scheme.Scheme.Default(d)
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: 1, Replicas: replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
		Conditions: []appsv1.DeploymentCondition{{
			Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable",
			LastUpdateTime: l.now, LastTransitionTime: l.now,
		}},
	}
	if err := l.put(ctx, worker, l.apps, "deployments", d); err != nil {
		return err
	}
	rs := l.replicaSet(d)
	rs.UID, rs.Generation = uuid.NewUUID(), 1
	rs.Status = appsv1.ReplicaSetStatus{
		ObservedGeneration: 1, Replicas: replicas, FullyLabeledReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
	}
	if err := l.put(ctx, worker, l.apps, "replicasets", rs); err != nil {
		return err
	}
	for k := range l.replicas {
		p := l.pod(rs, k, i*l.replicas+k)
		p.Status = l.running(p, i*l.replicas+k)
		if err := l.put(ctx, worker, l.core, "pods", p); err != nil {
			return err
		}
	}
	return nil
}

// running is the status of a pod that is ready; i makes its address.
func (l *etcdLoader) running(p *corev1.Pod, i int) corev1.PodStatus {
	yes := true
	ip := fmt.Sprintf("10.%d.%d.%d", 100+i>>16&0xff, i>>8&0xff, i&0xff)
	s := corev1.PodStatus{
		Phase: corev1.PodRunning, StartTime: &l.now, HostIP: "127.0.0.1", PodIP: ip, QOSClass: corev1.PodQOSBurstable,
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "main", Image: p.Spec.Containers[0].Image, Ready: true, Started: &yes,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: l.now}},
		}},
	}
	for _, t := range []corev1.PodConditionType{corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: t, Status: corev1.ConditionTrue, LastTransitionTime: l.now})
	}
	return s
}
