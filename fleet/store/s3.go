package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// s3Store is a bucket, or the part of one below a prefix.
type s3Store struct {
	client         *minio.Client
	bucket, prefix string
}

// newS3 parses s3://BUCKET/PREFIX?endpoint=URL&region=R. The endpoint may also come from
// AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL; credentials come from the environment,
// ~/.aws/credentials or the role of the machine. A URL with credentials is rejected, since it
// would appear in process lists and logs.
func newS3(u *url.URL) (*s3Store, error) {
	if u.User != nil {
		return nil, errors.New("store: credentials belong in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY " +
			"or ~/.aws/credentials, not in the URL")
	}
	if u.Host == "" {
		return nil, errors.New("store: s3://BUCKET/PREFIX needs a bucket")
	}
	host, secure, err := endpoint(u.Query().Get("endpoint"))
	if err != nil {
		return nil, err
	}
	region := cmp.Or(u.Query().Get("region"), os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	c, err := minio.New(host, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.EnvMinio{},
			&credentials.FileAWSCredentials{}, &credentials.IAM{Client: &http.Client{}}}),
		Secure: secure, Region: region,
	})
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &s3Store{c, u.Host, prefix}, nil
}

func endpoint(given string) (host string, secure bool, err error) {
	given = cmp.Or(given, os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"))
	if given == "" {
		return "s3.amazonaws.com", true, nil
	}
	u, err := url.Parse(given)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", false, fmt.Errorf("store: the endpoint %q is not of the form https://HOST", given)
	}
	return u.Host, u.Scheme == "https", nil
}

// failed maps an error of the server to the errors of a store.
func failed(key string, err error) error {
	if err == nil {
		return nil
	}
	var network *net.OpError
	answer := minio.ToErrorResponse(err)
	switch code := answer.StatusCode; {
	case answer.Code == minio.NoSuchBucket: // the bucket is missing, not only an object
		return fmt.Errorf("%s: %w", key, err)
	case code == http.StatusNotFound:
		return fmt.Errorf("%s: %w", key, ErrNotFound)
	case code == http.StatusPreconditionFailed, code == http.StatusConflict: // 409: it is being written
		return fmt.Errorf("%s: %w", key, ErrConflict)
	case code >= 500, errors.As(err, &network):
		return fmt.Errorf("%s: %w: %w", key, ErrAway, err)
	}
	return fmt.Errorf("%s: %w", key, err)
}

func (s *s3Store) Get(ctx context.Context, key string) ([]byte, string, error) {
	o, err := s.client.GetObject(ctx, s.bucket, s.prefix+key, minio.GetObjectOptions{})
	if err != nil {
		return nil, "", failed(key, err)
	}
	defer o.Close()
	b, err := io.ReadAll(o)
	if err != nil {
		return nil, "", failed(key, err)
	}
	st, err := o.Stat()
	return b, st.ETag, failed(key, err)
}

func (s *s3Store) Swap(ctx context.Context, key string, data []byte, tag string) (string, error) {
	o := minio.PutObjectOptions{ContentType: "application/json", DisableMultipart: true}
	if tag == "" {
		o.SetMatchETagExcept("*")
	} else {
		o.SetMatchETag(tag)
	}
	info, err := s.client.PutObject(ctx, s.bucket, s.prefix+key, bytes.NewReader(data), int64(len(data)), o)
	err = failed(key, err)
	if tag != "" && errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("%s: %w", key, ErrConflict)
	}
	return info.ETag, err
}

// Put keeps an existing object, since objects are written once.
func (s *s3Store) Put(ctx context.Context, key string, body *io.SectionReader) error {
	const small = 16 << 20
	o := minio.PutObjectOptions{ContentType: "application/octet-stream"}
	if body.Size() <= small { // most objects are small and new: one request
		o.DisableMultipart = true
		o.SetMatchETagExcept("*")
		_, err := s.client.PutObject(ctx, s.bucket, s.prefix+key, body, body.Size(), o)
		if err = failed(key, err); !errors.Is(err, ErrConflict) {
			return err
		}
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			return err
		}
		o = minio.PutObjectOptions{ContentType: o.ContentType}
	}
	st, err := s.client.StatObject(ctx, s.bucket, s.prefix+key, minio.StatObjectOptions{})
	if err == nil && st.Size >= body.Size() {
		return nil
	}
	_, err = s.client.PutObject(ctx, s.bucket, s.prefix+key, body, body.Size(), o)
	return failed(key, err)
}

func (s *s3Store) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	o, err := s.client.GetObject(ctx, s.bucket, s.prefix+key, minio.GetObjectOptions{})
	if err != nil {
		return nil, 0, failed(key, err)
	}
	st, err := o.Stat()
	if err != nil {
		o.Close()
		return nil, 0, failed(key, err)
	}
	return o, st.Size, nil
}

func (s *s3Store) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		for o := range s.client.ListObjects(ctx, s.bucket, minio.ListObjectsOptions{Prefix: s.prefix + prefix,
			Recursive: true}) {
			if !yield(strings.TrimPrefix(o.Key, s.prefix), failed(prefix, o.Err)) || o.Err != nil {
				return
			}
		}
	}
}

func (s *s3Store) Remove(ctx context.Context, key string) error {
	err := failed(key, s.client.RemoveObject(ctx, s.bucket, s.prefix+key, minio.RemoveObjectOptions{}))
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}
