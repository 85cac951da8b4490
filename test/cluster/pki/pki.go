// Package pki creates the certificates, keys and kubeconfigs of a test cluster. All of it is new
// for each cluster and useless outside of it.
package pki

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// validity is long enough for a sandbox that runs for months.
const validity = 365 * 24 * time.Hour

// skew is how long before now a certificate becomes valid.
const skew = 5 * time.Minute

// Pair is a certificate and its key, both in PEM.
type Pair struct{ Cert, Key []byte }

// WriteFiles writes base.crt and base.key.
func (p Pair) WriteFiles(base string) error {
	if err := os.WriteFile(base+".crt", p.Cert, 0o600); err != nil {
		return fmt.Errorf("write certificate: %w", err)
	}
	if err := os.WriteFile(base+".key", p.Key, 0o600); err != nil {
		return fmt.Errorf("write key: %w", err)
	}
	return nil
}

// Subject is the holder of a certificate. The API server uses Name as the user and Groups as the
// groups. Hosts are the DNS names and addresses of a server.
type Subject struct {
	Name   string
	Groups []string
	Hosts  []string
}

// Authority signs certificates.
type Authority struct {
	Pair
	cert *x509.Certificate
	key  crypto.Signer
}

// bits is the length of an authority's key. It is one of RSA: the API server verifies a client's
// certificate with each request, which takes five times as long by an elliptic curve.
const bits = 2048

// NewAuthority makes a certificate authority with a certificate of its own.
func NewAuthority(name string) (*Authority, error) {
	t, err := template(Subject{Name: name})
	if err != nil {
		return nil, err
	}
	t.IsCA, t.BasicConstraintsValid = true, true
	t.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		return nil, fmt.Errorf("make the key of authority %s: %w", name, err)
	}
	pair, err := sign(t, t, key, key)
	if err != nil {
		return nil, fmt.Errorf("make authority %s: %w", name, err)
	}
	return &Authority{Pair: pair, cert: t, key: key}, nil
}

// Issue makes a certificate good for a client and, if there are Hosts, for a
// server.
func (a *Authority) Issue(s Subject) (Pair, error) {
	t, err := template(s)
	if err != nil {
		return Pair{}, err
	}
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(s.Hosts) > 0 {
		t.ExtKeyUsage = append(t.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	for _, h := range s.Hosts {
		if ip := net.ParseIP(h); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
			continue
		}
		t.DNSNames = append(t.DNSNames, h)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("make the key of %s: %w", s.Name, err)
	}
	pair, err := sign(t, a.cert, key, a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("issue a certificate for %s: %w", s.Name, err)
	}
	return pair, nil
}

// SigningKey makes a key pair for tokens: Cert is the bare public key.
func SigningKey() (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("make a signing key: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return Pair{}, fmt.Errorf("encode a signing key: %w", err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("encode a signing key: %w", err)
	}
	return Pair{Cert: encode("PUBLIC KEY", public), Key: encode("EC PRIVATE KEY", private)}, nil
}

func template(s Subject) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: s.Name, Organization: s.Groups},
		NotBefore:    now.Add(-skew),
		NotAfter:     now.Add(validity),
	}, nil
}

func sign(t, parent *x509.Certificate, key, parentKey crypto.Signer) (Pair, error) {
	cert, err := x509.CreateCertificate(rand.Reader, t, parent, key.Public(), parentKey)
	if err != nil {
		return Pair{}, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{Cert: encode("CERTIFICATE", cert), Key: encode("PRIVATE KEY", private)}, nil
}

func encode(kind string, der []byte) []byte {
	var b bytes.Buffer
	_ = pem.Encode(&b, &pem.Block{Type: kind, Bytes: der}) // a Buffer takes everything
	return b.Bytes()
}
