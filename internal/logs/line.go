package logs

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"
)

// maxLineBytes is how much of a line is kept, in bytes: a program may write for days
// without ending one.
const maxLineBytes = 1 << 20

// keptBuffer is how much room a reader keeps for its next line: one long line in each of
// a thousand logs should not stay.
const keptBuffer = 64 << 10

// lineReader reads a log line by line.
type lineReader struct {
	r   *bufio.Reader
	buf []byte
	end error // why there are no more lines
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReaderSize(r, 16<<10)} }

// next returns the next line, or why there is none; io.EOF where the log is at its end.
// whole says that the end of the line was there: what stands behind the last end may be a
// part of a line.
func (l *lineReader) next() (line Line, whole bool, err error) {
	if l.end != nil {
		return Line{}, false, l.end
	}
	l.buf = l.buf[:0]
	for {
		var part []byte
		part, err = l.r.ReadSlice('\n')
		if err == nil {
			part = part[:len(part)-1]
		}
		room := min(len(part), maxLineBytes-len(l.buf))
		l.buf = append(l.buf, part[:room]...)
		line.Cut += len(part) - room
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	l.end = err
	if len(l.buf) == 0 && err != nil {
		return Line{}, false, err
	}
	line.Time, line.Stamp, line.Text = splitStamp(string(bytes.TrimSuffix(l.buf, []byte("\r"))))
	if cap(l.buf) > keptBuffer {
		l.buf = nil
	}
	return line, err == nil, nil
}

// splitStamp takes the time off a line. What has none is a line of the server's own.
func splitStamp(text string) (time.Time, string, string) {
	const shortest, longest = len("2006-01-02T15:04:05Z"), len("2006-01-02T15:04:05.000000000+00:00")
	end := 0
	for end < len(text) && end <= longest && text[end] != ' ' {
		end++
	}
	if end < shortest || end > longest {
		return time.Time{}, "", text
	}
	at, err := time.Parse(time.RFC3339Nano, text[:end])
	if err != nil {
		return time.Time{}, "", text
	}
	return at, text[:end], text[min(end+1, len(text)):]
}
