// TLS 1.3 over non-blocking sockets, by OpenSSL. A Context holds our certificate, or the
// authorities that we trust; a Session is one connection. The caller owns the socket, which must
// outlive the session. Nothing here raises SIGPIPE. One thread at a time owns a session; threads
// may share a context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "analysis/base/result.h"

struct ssl_st;
struct ssl_ctx_st;

namespace sojourn::tls {

// The result of a step. kRead, kWrite: repeat the step once the socket is readable or writable.
// kClosed: the connection is over; failure() says why if it failed.
enum class Step : std::uint8_t { kDone, kRead, kWrite, kClosed };

class Session {
 public:
  Step handshake();
  // `bytes`: how many were read or written. If write() returns kRead or kWrite, the same bytes must
  // be passed again, from any place in memory.
  Step read(std::span<std::uint8_t> into, std::size_t& bytes);
  Step write(std::span<const std::uint8_t> from, std::size_t& bytes);
  void say_goodbye();  // if the socket has room at once

  const std::string& failure() const { return failure_; }

 private:
  friend class Context;
  struct Free {
    void operator()(ssl_st* session) const;
  };

  explicit Session(ssl_st* session) : session_(session) {}
  Step step_after(int result);
  std::string words_of_failure() const;

  std::unique_ptr<ssl_st, Free> session_;
  std::string failure_;
};

class Context {
 public:
  // Reads PEM files. The certificate's file may contain the chain as well. Refuses a key that all
  // users can read, or that has a password.
  static Result<Context> for_server(const std::string& certificate, const std::string& key);
  // Trusts certificates that these authorities have signed; empty: the system's authorities.
  static Result<Context> for_client(const std::string& authorities);

  Result<Session> accept(int fd) const;
  // `host`: the name or address for which the peer's certificate must be valid.
  Result<Session> connect(int fd, const std::string& host) const;

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };

  explicit Context(ssl_ctx_st* context) : context_(context, Free()) {}
  Result<ssl_st*> session_over(int fd) const;

  std::shared_ptr<ssl_ctx_st> context_;
};

// Compares in a time that does not depend on the contents.
bool is_same_secret(std::string_view left, std::string_view right);

}  // namespace sojourn::tls
