package fetch_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
)

func pemOf(t testing.TB, kind string, der []byte, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// pair is a key pair, in PEM.
func pair(t testing.TB, kind string) (private, public []byte) {
	t.Helper()
	var secret, open any
	var err error
	switch kind {
	case "ed25519":
		open, secret, err = ed25519.GenerateKey(rand.Reader)
	case "rsa":
		var key *rsa.PrivateKey
		key, err = rsa.GenerateKey(rand.Reader, 2048)
		secret, open = key, &key.PublicKey
	default:
		curve := elliptic.P256()
		if kind == "P-384" {
			curve = elliptic.P384()
		}
		var key *ecdsa.PrivateKey
		key, err = ecdsa.GenerateKey(curve, rand.Reader)
		secret, open = key, &key.PublicKey
	}
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(secret)
	private = pemOf(t, "PRIVATE KEY", der, err)
	der, err = x509.MarshalPKIXPublicKey(open)
	return private, pemOf(t, "PUBLIC KEY", der, err)
}

func TestSign(t *testing.T) {
	data := []byte("a catalog")
	for _, kind := range []string{"ecdsa", "ed25519"} {
		t.Run(kind, func(t *testing.T) {
			private, public := pair(t, kind)
			_, other := pair(t, kind)
			signature, err := fetch.Sign(data, private)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(signature)))
			if err != nil {
				t.Fatal(err)
			}
			for _, form := range [][]byte{signature, raw} {
				if err := fetch.Verify(data, form, public); err != nil {
					t.Error(err)
				}
				if err := fetch.Verify(data, form, append(other, public...)); err != nil {
					t.Errorf("the second of two keys: %v", err)
				}
			}
			flipped := append([]byte(nil), raw...)
			flipped[len(flipped)-1] ^= 1
			for name, err := range map[string]error{
				"other data": fetch.Verify([]byte("a catalog!"), signature, public),
				"other key":  fetch.Verify(data, signature, other),
				"none":       fetch.Verify(data, nil, public),
				"text":       fetch.Verify(data, []byte("signed, honestly"), public),
				"flipped":    fetch.Verify(data, flipped, public),
				"cut":        fetch.Verify(data, raw[:len(raw)-1], public),
			} {
				if !errors.Is(err, fetch.ErrSignature) {
					t.Errorf("%s: %v", name, err)
				}
			}
			refused(t, fetch.Verify(data, make([]byte, 5000), public), "5000 bytes")
		})
	}
}

// TestSignaturesOfOthers has what openssl wrote.
func TestSignaturesOfOthers(t *testing.T) {
	read := func(name string) []byte {
		data, err := os.ReadFile("testdata/signature/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for _, kind := range []string{"ecdsa", "ed25519"} {
		if err := fetch.Verify(read("signed.txt"), read(kind+".sig"), read(kind+".pub")); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if err := fetch.Verify(read("signed.txt"), read("ecdsa.sig"), read("ed25519.pub")); !errors.Is(err, fetch.ErrSignature) {
		t.Errorf("of another kind: %v", err)
	}
}

func TestKeys(t *testing.T) {
	private, public := pair(t, "ecdsa")
	rsaPrivate, rsaPublic := pair(t, "rsa")
	largePrivate, largePublic := pair(t, "P-384")
	for want, key := range map[string][]byte{
		"no PEM block":                    nil,
		`it is a "PRIVATE KEY"`:           private,
		"*rsa.PublicKey":                  rsaPublic,
		"the curve P-384; expected P-256": largePublic,
		"read the public key":             pemOf(t, "PUBLIC KEY", []byte("x"), nil),
	} {
		refused(t, fetch.Verify(nil, nil, key), want)
		if key != nil {
			_, err := fetch.New(fetch.Options{Key: key})
			refused(t, err, "read the key of catalogs", want)
		}
	}
	for want, key := range map[string][]byte{
		"no private key; expected":        nil,
		`it is a "PUBLIC KEY"`:            public,
		"*rsa.PrivateKey":                 rsaPrivate,
		"the curve P-384; expected P-256": largePrivate,
		"that is not encrypted":           pemOf(t, "ENCRYPTED SIGSTORE PRIVATE KEY", []byte("x"), nil),
		"read the private key":            pemOf(t, "EC PRIVATE KEY", []byte("x"), nil),
	} {
		_, err := fetch.Sign(nil, key)
		refused(t, err, want)
	}
}

// TestSignSEC1 takes the older form of a key, as `openssl ecparam -genkey` writes it.
func TestSignSEC1(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	private := append(pemOf(t, "EC PARAMETERS", []byte("P-256"), nil), pemOf(t, "EC PRIVATE KEY", der, err)...)
	der, err = x509.MarshalPKIXPublicKey(&key.PublicKey)
	public := pemOf(t, "PUBLIC KEY", der, err)
	signature, err := fetch.Sign([]byte("x"), private)
	if err != nil {
		t.Fatal(err)
	}
	if err := fetch.Verify([]byte("x"), signature, public); err != nil {
		t.Error(err)
	}
}
