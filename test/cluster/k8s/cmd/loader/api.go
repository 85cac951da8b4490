package main

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// apiLoader counts what it created. Objects that exist already count too: a
// load that was broken off can be run again.
type apiLoader struct {
	config
	clients []*kubernetes.Clientset
	created atomic.Int64
}

func loadAPI(ctx context.Context, c config) (int64, error) {
	if err := c.check(); err != nil {
		return 0, err
	}
	l := &apiLoader{config: c}
	for range c.connections {
		client, err := connect(c.kubeconfig)
		if err != nil {
			return 0, err
		}
		l.clients = append(l.clients, client)
	}
	for _, step := range []struct {
		count int
		load  func(context.Context, int, int) error
	}{
		{c.namespaces, l.namespace}, {c.deployments, l.deployment}, {c.configMaps, l.configMap},
	} {
		if err := each(ctx, c.workers, step.count, step.load); err != nil {
			return l.created.Load(), err
		}
	}
	return l.created.Load(), nil
}

// connect gives a client a connection of its own: a dialer of its own keeps
// client-go from sharing one HTTP/2 connection among all clients.
func connect(kubeconfig string) (*kubernetes.Clientset, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("load kubeconfig: %w", err)
	}
	cfg.QPS = -1
	cfg.ContentType = "application/vnd.kubernetes.protobuf"
	cfg.Dial = (&net.Dialer{}).DialContext
	return kubernetes.NewForConfig(cfg)
}

func (l *apiLoader) done(err error) error {
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	l.created.Add(1)
	return nil
}

func (l *apiLoader) namespace(ctx context.Context, worker, i int) error {
	_, err := l.clients[worker%len(l.clients)].CoreV1().Namespaces().Create(ctx, l.namespaceObject(i), metav1.CreateOptions{})
	return l.done(err)
}

func (l *apiLoader) configMap(ctx context.Context, worker, i int) error {
	o := l.shape.configMap(i)
	_, err := l.clients[worker%len(l.clients)].CoreV1().ConfigMaps(o.Namespace).Create(ctx, o, metav1.CreateOptions{})
	return l.done(err)
}

func (l *apiLoader) deployment(ctx context.Context, worker, i int) error {
	client := l.clients[worker%len(l.clients)]
	d, err := client.AppsV1().Deployments(l.shape.namespace(i)).Create(ctx, l.shape.deployment(i), metav1.CreateOptions{})
	if err != nil || !l.tree {
		return l.done(err)
	}
	l.created.Add(1)
	rs, err := client.AppsV1().ReplicaSets(d.Namespace).Create(ctx, l.replicaSet(d), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	l.created.Add(1)
	for k := range l.replicas {
		_, err := client.CoreV1().Pods(d.Namespace).Create(ctx, l.pod(rs, k, i*l.replicas+k), metav1.CreateOptions{})
		if err := l.done(err); err != nil {
			return err
		}
	}
	return nil
}
