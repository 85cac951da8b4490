package fetch

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
)

// Verify is verify with keys in PEM.
func Verify(data, signature, publicKeyPEM []byte) error {
	keys, err := publicKeys(publicKeyPEM)
	if err != nil {
		return err
	}
	return verify(data, signature, keys)
}

// Sign returns the detached signature of a file in base64, by a private key (PEM, not
// encrypted) of one of the kinds that Verify takes.
func Sign(data, privateKeyPEM []byte) ([]byte, error) {
	key, err := privateKey(privateKeyPEM)
	if err != nil {
		return nil, err
	}
	message, hash := data, crypto.Hash(0)
	if _, ok := key.(*ecdsa.PrivateKey); ok {
		sum := sha256.Sum256(data)
		message, hash = sum[:], crypto.SHA256
	}
	signature, err := key.Sign(rand.Reader, message, hash)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return append([]byte(base64.StdEncoding.EncodeToString(signature)), '\n'), nil
}

func privateKey(text []byte) (crypto.Signer, error) {
	var parsed any
	var err error
	for rest := text; parsed == nil; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, errors.New("it has no private key; expected -----BEGIN PRIVATE KEY-----")
		}
		switch block.Type {
		case "EC PARAMETERS": // openssl writes it before the key
		case "PRIVATE KEY":
			parsed, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			parsed, err = x509.ParseECPrivateKey(block.Bytes)
		default:
			return nil, fmt.Errorf("it is a %q; expected a PRIVATE KEY that is not encrypted (for an encrypted one, sign with the tool that made it)", block.Type)
		}
		if err != nil {
			return nil, fmt.Errorf("read the private key: %w", err)
		}
	}
	switch key := parsed.(type) {
	case *ecdsa.PrivateKey:
		_, err = publicKeyOf(&key.PublicKey)
		return key, err
	case ed25519.PrivateKey:
		return key, nil
	}
	return nil, fmt.Errorf("a key of the kind %T; expected ECDSA with P-256, or ed25519", parsed)
}
