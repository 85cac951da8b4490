package cluster

import (
	"context"
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/build"
)

// startMetricsServer starts metrics-server and registers metrics.k8s.io. The
// first usage appears after two scrapes, some 30 s later; nothing waits for it.
func (c *Cluster) startMetricsServer(ctx context.Context) error {
	if err := c.part(build.MetricsServer); err != nil {
		return err
	}
	p, err := ports(1)
	if err != nil {
		return err
	}
	objects, err := ownManifest("metrics-apiservice.yaml",
		"METRICS_PORT", fmt.Sprint(p[0]), "CA_BUNDLE", base64.StdEncoding.EncodeToString(c.ca.Cert))
	if err != nil {
		return err
	}
	if err := c.create(ctx, objects); err != nil {
		return err
	}
	const kubeconfig = build.MetricsServer + ".kubeconfig"
	return c.run(build.MetricsServer, build.MetricsServer,
		"--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig,
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", p[0]),
		"--tls-cert-file=pki/metrics-server.crt", "--tls-private-key-file=pki/metrics-server.key",
		"--kubelet-certificate-authority=pki/ca.crt", "--kubelet-preferred-address-types=ExternalIP",
		"--kubelet-use-node-status-port", "--metric-resolution=10s", "--kubelet-request-timeout=5s")
}

func (c *Cluster) startPrometheusOperator(ctx context.Context) error {
	if err := c.shipped(ctx, build.ManifestPrometheusCRDs); err != nil {
		return err
	}
	p, err := ports(1)
	if err != nil {
		return err
	}
	return c.run(build.PrometheusOperator, build.PrometheusOperator,
		"--apiserver="+c.server, "--cert-file=pki/prometheus-operator.crt", "--key-file=pki/prometheus-operator.key",
		"--ca-file=pki/ca.crt", "--web.listen-address="+address(p[0]), "--kubelet-endpoints=false")
}

func (c *Cluster) startCertManager(ctx context.Context) error {
	if err := c.shipped(ctx, build.ManifestCertCRDs); err != nil {
		return err
	}
	const namespace = "cert-manager"
	ns := &unstructured.Unstructured{}
	ns.SetAPIVersion("v1")
	ns.SetKind("Namespace")
	ns.SetName(namespace)
	if err := c.create(ctx, []*unstructured.Unstructured{ns}); err != nil {
		return err
	}
	if err := c.part(build.CertManager); err != nil {
		return err
	}
	return c.run(build.CertManager, build.CertManager,
		"--kubeconfig="+build.CertManager+".kubeconfig", "--cluster-resource-namespace="+namespace,
		fmt.Sprintf("--enable-certificate-owner-ref=%t", c.options.CertificateOwnerRef))
}

// shipped creates the manifests that a module ships.
func (c *Cluster) shipped(ctx context.Context, name string) error {
	objects, err := apply.ReadFiles(c.binaries.Manifests(name))
	if err != nil {
		return err
	}
	return c.create(ctx, objects)
}

// create creates objects that no controller makes and that wait for none.
func (c *Cluster) create(ctx context.Context, objects []*unstructured.Unstructured) error {
	_, err := apply.Objects(ctx, c.config, apply.Makers{}, objects)
	return err
}
