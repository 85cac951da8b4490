package cluster

import (
	"errors"
	"io"
)

// Options select the components of a cluster. It always has etcd and an API server with RBAC; the
// zero value has nothing else.
type Options struct {
	Nodes             int  // fake nodes, named node-0 and on; they need Kwok
	ControllerManager bool // all the built-in controllers
	Scheduler         bool
	Kwok              bool // simulates the nodes, the life of pods, and volumes
	MetricsServer     bool // metrics.k8s.io, fed from pod annotations through Kwok
	Summary           bool // the nodes' /stats/summary, through their proxy subresource

	PrometheusOperator  bool
	CertManager         bool
	CertificateOwnerRef bool // cert-manager makes a Certificate the owner of its Secret
	// StandIns runs the two operators, with the permissions of their own service accounts, while a
	// Deployment of theirs is available. Their definitions do not exist before they are installed.
	StandIns bool

	Audit          bool     // log requests for AuditEvents
	APIServerFlags []string // further flags of the API server

	// Dir is the directory of the cluster; it stays when the cluster is stopped. By default it is a
	// temporary one, which does not.
	Dir string
	// Log receives progress messages while the cluster is built and started; may be nil.
	Log io.Writer
}

// Full returns a cluster with every component and three nodes.
func Full() Options {
	return Options{
		Nodes: 3, ControllerManager: true, Scheduler: true, Kwok: true, MetricsServer: true, Summary: true,
		PrometheusOperator: true, CertManager: true, Audit: true,
	}
}

// Workloads returns a cluster in which workloads run, which is enough for most tests.
func Workloads() Options {
	return Options{Nodes: 3, ControllerManager: true, Scheduler: true, Kwok: true, Audit: true}
}

// Installing returns a cluster in which workloads run and operators can be installed: they run
// while their Deployments are available.
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
