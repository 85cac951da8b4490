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
	// StandIns has the two operators run, with the rights of their own service accounts,
	// while a Deployment of theirs is available, and not else: their definitions are not
	// there before somebody installs them.
	StandIns bool

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

// Installing is a cluster in which workloads run, and on which operators are to be
// installed: when their Deployments are available, so they are.
func Installing() Options {
	o := Workloads()
	o.StandIns = true
	return o
}

func (o Options) validate() error {
	switch {
	case o.StandIns && (o.PrometheusOperator || o.CertManager):
		return errors.New("start a cluster: an operator that runs anyhow has no stand-in")
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
