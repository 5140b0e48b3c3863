// TLS 1.3 over sockets that do not block, by OpenSSL. A Context knows who one is or whom one
// trusts, a Session is one connection. The socket is the caller's, and lives as long as the
// session. No SIGPIPE comes from here. One thread at a time owns a session; a context may be
// shared.
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

// What a step has come to. kRead, kWrite: it is to be repeated once the socket is readable,
// writable. kClosed: nothing comes or goes any more; failure() says why, where it was a failure.
enum class Step : std::uint8_t { kDone, kRead, kWrite, kClosed };

class Session {
 public:
  Step handshake();
  // `bytes`: how many were read or written. After kRead or kWrite of a writing, the same bytes have
  // to be written again, from wherever they are then.
  Step read(std::span<std::uint8_t> into, std::size_t& bytes);
  Step write(std::span<const std::uint8_t> from, std::size_t& bytes);
  void say_goodbye();  // if the socket takes it at once

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
  // PEM files. The certificate's may have the chain behind it. A key that everybody can read is
  // refused, and so is one that asks for a password.
  static Result<Context> for_server(const std::string& certificate, const std::string& key);
  // Trusts what these authorities have signed, the system's where none are given.
  static Result<Context> for_client(const std::string& authorities);

  Result<Session> accept(int fd) const;
  // `host` is the name or the address that the other side's certificate has to be for.
  Result<Session> connect(int fd, const std::string& host) const;

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };

  explicit Context(ssl_ctx_st* context) : context_(context, Free()) {}
  Result<ssl_st*> session_over(int fd) const;

  std::shared_ptr<ssl_ctx_st> context_;
};

// In a time that does not tell where they differ.
bool is_same_secret(std::string_view left, std::string_view right);

}  // namespace sojourn::tls
