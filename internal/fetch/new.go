package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"helm.sh/helm/v4/pkg/provenance"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
)

// New returns a Fetcher. It is an error where a key, the keyring or a certificate cannot be read.
func New(options Options) (*Fetcher, error) {
	options.Limits = options.Limits.withDefaults(DefaultLimits)
	options.UserAgent = cmp.Or(options.UserAgent, "kubectl-sysop")
	if options.Redirects != Pinned && options.Redirects != SameHost {
		return nil, fmt.Errorf("redirects: unknown policy %q; it is %q, or empty", options.Redirects, SameHost)
	}
	transport, err := transportOf(options)
	if err != nil {
		return nil, err
	}
	f := &Fetcher{options: options, indexes: indexes{byURL: map[string]index{}}}
	f.client = &http.Client{Transport: transport, CheckRedirect: f.redirect}
	f.registry = &auth.Client{
		Client:     &http.Client{Transport: encrypted{transport, options.PlainHTTP}, CheckRedirect: f.redirect},
		Credential: options.Credentials,
		Cache:      auth.NewCache(),
		ClientID:   options.UserAgent,
	}
	if options.Credentials == nil {
		f.registry.Credential = dockerCredentials()
	}
	if len(options.Key) > 0 {
		if f.keys, err = publicKeys(options.Key); err != nil {
			return nil, fmt.Errorf("read the key of catalogs: %w", err)
		}
	}
	if options.Keyring != "" {
		if f.keyring, err = provenance.NewFromKeyring(options.Keyring, ""); err != nil {
			return nil, fmt.Errorf("read the keyring %s: %w", options.Keyring, err)
		}
		if len(f.keyring.KeyRing) == 0 {
			return nil, fmt.Errorf("read the keyring %s: it has no key", options.Keyring)
		}
	}
	return f, nil
}

func transportOf(options Options) (http.RoundTripper, error) {
	if options.Transport != nil {
		if len(options.CA) > 0 {
			return nil, errors.New("set certificates in the given transport")
		}
		return options.Transport, nil
	}
	transport := &http.Transport{}
	if ours, ok := http.DefaultTransport.(*http.Transport); ok {
		transport = ours.Clone()
	}
	transport.Proxy = http.ProxyFromEnvironment
	// What a server compresses on the way would be unpacked past our count of bytes.
	transport.DisableCompression = true
	transport.MaxResponseHeaderBytes = 1 << 20
	if len(options.CA) > 0 {
		roots, err := x509.SystemCertPool()
		if err != nil {
			roots = x509.NewCertPool()
		}
		if !roots.AppendCertsFromPEM(options.CA) {
			return nil, errors.New("read the certificates to trust: they have no PEM certificate")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	return transport, nil
}

// dockerCredentials reads what others keep, when it is first asked: a credential helper is a
// program, which is not to be run for nothing.
func dockerCredentials() auth.CredentialFunc {
	find := sync.OnceValues(func() (auth.CredentialFunc, error) {
		store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
		if err != nil {
			return nil, fmt.Errorf("read the credentials of registries: %w", err)
		}
		return credentials.Credential(store), nil
	})
	return func(ctx context.Context, host string) (auth.Credential, error) {
		credential, err := find()
		if err != nil {
			return auth.EmptyCredential, err
		}
		return credential(ctx, host)
	}
}
