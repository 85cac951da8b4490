package journal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// macKey is the key of the signature in the ConfigMap.
const macKey = "mac"

// Trust tells whether the document that was read carries a valid signature. The key is in a
// Secret next to it, so only a user who may read that Secret can sign.
//
// A signed document may still be an old one: a user who may write ConfigMaps can restore a
// former version. So a journal is verified against the cluster whatever its Trust.
type Trust int

const (
	// Verified documents carry the signature of the key, or there is none yet.
	Verified Trust = iota
	// Unsigned documents have no key: an older version wrote them, or a user who may not write
	// Secrets.
	Unsigned
	// Unverified documents have, or might have, a key that cannot be read. They can be shown,
	// and cannot be saved.
	Unverified
)

// ForgedError says that a document does not carry the signature of its key.
type ForgedError struct {
	Place Place
	// Missing says that there is no signature at all.
	Missing bool
}

func (e *ForgedError) Error() string {
	problem := "its signature does not match its key"
	if e.Missing {
		problem = "it has no signature, although there is a key"
	}
	name, ns := e.Place.Name, e.Place.Namespace
	return fmt.Sprintf("configmap %s/%s: the journal cannot be trusted: %s (secret %s): it was written without the key, or by an older version; nothing was done: read it (kubectl get configmap/%s -n %s -o yaml), fix by hand what is true of it, then delete it",
		ns, name, problem, KeyName(name), name, ns)
}

// KeyName returns the name of the Secret with the key of a journal.
func KeyName(journal string) string { return journal + "-key" }

// mac signs the kind, the place and the text of a document.
func mac(key []byte, head Header, p Place, text []byte) string {
	h := hmac.New(sha256.New, key)
	for _, part := range []string{"kubectl sysop journal", head.APIVersion, head.Kind, p.Namespace, p.Name, string(text)} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// verify checks the signature of a document.
func (s *Store[T]) verify(o *corev1.ConfigMap, text []byte, k *key) (Trust, error) {
	switch signature := o.Data[macKey]; {
	case k == nil:
		return Unsigned, nil
	case k.refused != nil:
		return Unverified, nil
	case hmac.Equal([]byte(signature), []byte(mac(k.secret, s.format.Header, s.place, text))):
		return Verified, nil
	case signature == "" && k.adopted == digest(text):
		// The process was killed after it created the key and before it signed the document.
		return Unsigned, nil
	default:
		return 0, &ForgedError{Place: s.place, Missing: signature == ""}
	}
}
