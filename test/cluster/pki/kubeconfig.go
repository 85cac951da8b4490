package pki

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig is the content of a kubeconfig file: a server and a user.
type Kubeconfig struct {
	Server string // URL
	CA     []byte // PEM of the server's authority
	User   string // a name for the user entry
	Client Pair   // the user's certificate; empty for a server that asks for none
	Name   string // of the cluster and the context
}

// WriteFile writes a self-contained kubeconfig file.
func (k Kubeconfig) WriteFile(path string) error {
	c := clientcmdapi.NewConfig()
	c.Clusters[k.Name] = &clientcmdapi.Cluster{Server: k.Server, CertificateAuthorityData: k.CA}
	c.AuthInfos[k.User] = &clientcmdapi.AuthInfo{ClientCertificateData: k.Client.Cert, ClientKeyData: k.Client.Key}
	c.Contexts[k.Name] = &clientcmdapi.Context{Cluster: k.Name, AuthInfo: k.User}
	c.CurrentContext = k.Name
	if err := clientcmd.WriteToFile(*c, path); err != nil {
		return fmt.Errorf("write kubeconfig of %s: %w", k.User, err)
	}
	return nil
}
