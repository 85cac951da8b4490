package install

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// boundedSecrets are the Secrets that Helm's own driver reads. That unpacks a release without a
// bound, and 1 MiB in a Secret can be 1 GiB of text; so what is larger than maxRecordBytes is kept
// from it.
type boundedSecrets struct {
	clientcorev1.SecretInterface
}

// Get refuses a release that unpacks to too much.
func (s boundedSecrets) Get(ctx context.Context, name string, o metav1.GetOptions) (*corev1.Secret, error) {
	secret, err := s.SecretInterface.Get(ctx, name, o)
	if err == nil && isOversized(secret) {
		return nil, fmt.Errorf("read Secret %s: the release in it unpacks to more than %d MiB", name, maxRecordBytes>>20)
	}
	return secret, err
}

// List empties releases that unpack to too much: the driver passes over what it cannot decode.
func (s boundedSecrets) List(ctx context.Context, o metav1.ListOptions) (*corev1.SecretList, error) {
	list, err := s.SecretInterface.List(ctx, o)
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		if isOversized(&list.Items[i]) {
			delete(list.Items[i].Data, "release")
		}
	}
	return list, nil
}

// isOversized reports whether the release of a Secret unpacks to more than maxRecordBytes. What is
// not packed is no larger than the Secret.
func isOversized(secret *corev1.Secret) bool {
	packed, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(string(secret.Data["release"]))))
	if err != nil {
		return false
	}
	n, _ := io.Copy(io.Discard, io.LimitReader(packed, maxRecordBytes+1))
	return n > maxRecordBytes
}
