package pki_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/pki"
)

func TestIssuedCertificatesVerify(t *testing.T) {
	ca, err := pki.NewAuthority("ca")
	if err != nil {
		t.Fatal(err)
	}
	other, err := pki.NewAuthority("ca")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.Issue(pki.Subject{Name: "jane", Groups: []string{"team"}, Hosts: []string{"127.0.0.1", "localhost"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tls.X509KeyPair(pair.Cert, pair.Key); err != nil {
		t.Errorf("certificate and key do not match: %v", err)
	}
	block, _ := pem.Decode(pair.Cert)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if cert.Subject.CommonName != "jane" || !slices.Equal(cert.Subject.Organization, []string{"team"}) {
		t.Errorf("subject %v, want the user jane in the group team", cert.Subject)
	}
	for _, host := range []string{"127.0.0.1", "localhost"} {
		if _, err := cert.Verify(x509.VerifyOptions{DNSName: host, Roots: pool(ca)}); err != nil {
			t.Errorf("as the server %s: %v", host, err)
		}
	}
	client := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if _, err := cert.Verify(x509.VerifyOptions{Roots: pool(ca), KeyUsages: client}); err != nil {
		t.Errorf("as a client: %v", err)
	}
	if _, err := cert.Verify(x509.VerifyOptions{Roots: pool(other)}); err == nil {
		t.Error("another cluster's authority accepts it")
	}
}

func TestClientCertificateIsNoServer(t *testing.T) {
	ca, err := pki.NewAuthority("ca")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.Issue(pki.Subject{Name: "jane"})
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(pair.Cert)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cert.Verify(x509.VerifyOptions{Roots: pool(ca)}); err == nil { // servers are the default
		t.Error("a client's certificate is good for a server")
	}
}

func TestKubeconfigLoads(t *testing.T) {
	ca, err := pki.NewAuthority("ca")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	k := pki.Kubeconfig{Name: "x", Server: "https://127.0.0.1:1", CA: ca.Cert, User: "jane", Client: ca.Pair}
	if err := k.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Host != k.Server || len(cfg.CertData) == 0 || len(cfg.CAData) == 0 {
		t.Errorf("the connection is incomplete: %v", cfg)
	}
}

func pool(a *pki.Authority) *x509.CertPool {
	p := x509.NewCertPool()
	p.AppendCertsFromPEM(a.Cert)
	return p
}
