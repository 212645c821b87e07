#include "collector/cuda/control/command_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

#include "collector/cuda/control/schedule.h"

namespace llmprof::collector {
namespace {

constexpr size_t kLongestCommand = 32;

struct CommandSocket {
  bool opened = false;
  int descriptor = -1;
};

int open_socket() {
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // A name that begins with a null byte is abstract: no file is left behind.
  const int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "llmprof.%ld",
                              static_cast<long>(getpid()));
  const auto bytes =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(length));
  const int on = 1;
  if (setsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
      bind(descriptor, reinterpret_cast<sockaddr*>(&address), bytes) != 0) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

const char* answer_to(const char* command) {
  if (std::strcmp(command, "arm") == 0) return arm_by_command();
  if (std::strcmp(command, "disarm") == 0) return disarm_by_command();
  if (std::strcmp(command, "status") == 0) return describe_state();
  return "error: unknown command; available: arm, disarm, status\n";
}

bool may_command(msghdr& message) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS) continue;
    ucred sender{};
    std::memcpy(&sender, CMSG_DATA(part), sizeof sender);
    return sender.uid == 0 || sender.uid == geteuid();
  }
  return false;
}

// False: nothing has arrived.
bool answer_one(int descriptor) {
  char command[kLongestCommand + 1] = {};
  iovec text = {command, kLongestCommand};
  sockaddr_un from{};
  alignas(cmsghdr) char credentials[CMSG_SPACE(sizeof(ucred))] = {};
  msghdr message{};
  message.msg_name = &from;
  message.msg_namelen = sizeof from;
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = credentials;
  message.msg_controllen = sizeof credentials;
  if (recvmsg(descriptor, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0) return false;
  const char* answer = may_command(message)
                           ? answer_to(command)
                           : "error: only the user of this process and root may send commands\n";
  sendto(descriptor, answer, std::strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL,
         reinterpret_cast<sockaddr*>(&from), message.msg_namelen);
  return true;
}

}  // namespace

void answer_commands() {
  static constinit CommandSocket socket;
  if (!socket.opened) socket = {true, open_socket()};
  while (answer_one(socket.descriptor)) {
  }
}

}  // namespace llmprof::collector
