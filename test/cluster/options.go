package cluster

import (
	"errors"
	"io"
)

// Options says what a cluster is made of. There are always etcd and an API
// server with RBAC; the zero value has nothing else.
type Options struct {
	Nodes             int  // fake nodes, named node-0 and on; they need Kwok
	ControllerManager bool // all the built-in controllers
	Scheduler         bool
	Kwok              bool // plays the nodes, the life of pods, and volumes
	MetricsServer     bool // metrics.k8s.io, fed from pod annotations through Kwok
	Summary           bool // the nodes' /stats/summary, through their proxy subresource

	PrometheusOperator  bool
	CertManager         bool
	CertificateOwnerRef bool // cert-manager makes a Certificate the owner of its Secret

	Audit          bool     // log requests for AuditEvents
	APIServerFlags []string // further flags of the API server

	// Dir is where the cluster keeps its files; it stays when the cluster is
	// stopped. Without it there is a temporary one, which does not.
	Dir string
	// Log is told what happens while the cluster is built and started.
	// Nothing is told without it.
	Log io.Writer
}

// Full is a cluster with every part and three nodes.
func Full() Options {
	return Options{
		Nodes: 3, ControllerManager: true, Scheduler: true, Kwok: true, MetricsServer: true, Summary: true,
		PrometheusOperator: true, CertManager: true, Audit: true,
	}
}

// Workloads is a cluster in which workloads run, and nothing more: what most
// tests need.
func Workloads() Options {
	return Options{Nodes: 3, ControllerManager: true, Scheduler: true, Kwok: true, Audit: true}
}

func (o Options) validate() error {
	switch {
	case o.Nodes < 0 || o.Nodes > maxNodes:
		return errors.New("start a cluster: the number of nodes is out of range")
	case o.Kwok:
		return nil
	case o.Nodes > 0:
		return errors.New("start a cluster: nodes need kwok")
	case o.MetricsServer || o.Summary:
		return errors.New("start a cluster: metrics need kwok")
	}
	return nil
}
