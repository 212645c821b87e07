#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

// What client and server have in common. Headers of this folder are included by http.cpp alone, so
// that Boost is compiled once.
namespace llmprof::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using boost::system::error_code;

// Bytes of a message's body as they arrive. Unlike Beast's string_body it reserves nothing for the
// length that the other side announces.
struct ArrivingBody {
  using value_type = std::string;

  class reader {  // NOLINT(readability-identifier-naming): Beast names it
   public:
    template <bool is_request, class Fields>
    reader(beast::http::header<is_request, Fields>& /*header*/, value_type& body) : body_(body) {}
    void init(const boost::optional<uint64_t>& /*length*/, error_code& error) { error = {}; }
    template <class Buffers>
    size_t put(const Buffers& buffers, error_code& error) {
      error = {};
      size_t size = 0;
      for (const asio::const_buffer buffer : beast::buffers_range_ref(buffers)) {
        body_.append(static_cast<const char*>(buffer.data()), buffer.size());
        size += buffer.size();
      }
      return size;
    }
    void finish(error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};

template <class Message>
std::string text_of(const Message& message) {
  std::ostringstream text;
  text << message;
  return std::move(text).str();
}

inline boost::beast::string_view view_of(std::string_view text) {
  return {text.data(), text.size()};
}

// Writes what the kernel takes at once; the rest is left for later.
inline size_t write_now(tcp::socket& socket, std::string_view bytes, error_code& error) {
  size_t written = 0;
  while (written < bytes.size() && !error) {
    written += socket.write_some(asio::buffer(bytes.substr(written)), error);
  }
  if (error == asio::error::would_block) error = {};
  return written;
}

// Small messages leave at once, and writing never waits.
inline void prepare_socket(tcp::socket& socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  socket.non_blocking(true, ignored);
}

}  // namespace llmprof::http
