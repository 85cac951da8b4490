package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// inMemory is how much of a log is kept in memory, in bytes, where more logs are to be
// merged than may be open at once. The rest of it goes to a file.
const inMemory = 64 << 10

// spool holds a log that was read as far as it went. Where that was not to its end, who
// reads the spool meets the error there.
type spool struct {
	io.Reader
	file *os.File // nil for a short log
	end  error
}

func newSpool(log io.Reader) (*spool, error) {
	head := &bytes.Buffer{}
	if _, err := io.CopyN(head, log, inMemory); err != nil { // io.EOF, of a short one
		return &spool{Reader: head, end: err}, nil
	}
	// The file is for its owner alone: logs say more than they should.
	file, err := os.CreateTemp("", "sysop-logs-")
	if err != nil {
		return nil, fmt.Errorf("buffer a long log: %w", err)
	}
	// Where the system lets it, nobody finds the file, and it goes with the process.
	_ = os.Remove(file.Name())
	s := &spool{Reader: io.MultiReader(head, file), file: file, end: io.EOF}
	if _, err := io.Copy(file, log); err != nil {
		s.end = err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("buffer a long log: %w", errors.Join(err, s.Close()))
	}
	return s, nil
}

func (s *spool) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = s.end
	}
	return n, err
}

// Close removes the file.
func (s *spool) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if gone := os.Remove(s.file.Name()); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}
