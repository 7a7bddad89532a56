/* Starts a program and lets one of its calls that change files fail: the Nth below a folder, or all from the Nth on.
 *
 *   faults FOLDER N ERRNO once|on COUNT PROGRAM ARGUMENTS...
 *
 * COUNT is a file that gets the number of such calls and, where one was made to fail, its name.
 *
 * A shim for LD_PRELOAD would not see the calls that Rust libraries make without the C library. So the kernel itself
 * asks here before each call (SECCOMP_RET_USER_NOTIF, Linux 5.5 and newer, no rights needed).
 * Exit status: that of the program; 125 where the kernel does not allow this. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What names the file of a call. */
enum how { FD, FD2, PATH0, PATH1, PATH01, PATH13 };

static const struct call { int number; enum how how; const char *name; int open_flags_at; } calls[] = {
    {SYS_write, FD, "write", -1},
    {SYS_pwrite64, FD, "pwrite", -1},
    {SYS_writev, FD, "writev", -1},
    {SYS_fsync, FD, "fsync", -1},
    {SYS_fdatasync, FD, "fdatasync", -1},
    {SYS_ftruncate, FD, "ftruncate", -1},
    {SYS_fallocate, FD, "fallocate", -1},
    {SYS_fchmod, FD, "fchmod", -1},
    {SYS_flock, FD, "flock", -1},
    {SYS_copy_file_range, FD2, "copy_file_range", -1},
    {SYS_openat, PATH1, "openat", 2},
    {SYS_mkdirat, PATH1, "mkdirat", -1},
    {SYS_unlinkat, PATH1, "unlinkat", -1},
    {SYS_renameat2, PATH13, "renameat2", -1},
    {SYS_linkat, PATH13, "linkat", -1},
#ifdef SYS_renameat
    {SYS_renameat, PATH13, "renameat", -1},
#endif
#ifdef SYS_open
    {SYS_open, PATH0, "open", 1},
    {SYS_mkdir, PATH0, "mkdir", -1},
    {SYS_unlink, PATH0, "unlink", -1},
    {SYS_rename, PATH01, "rename", -1},
    {SYS_link, PATH01, "link", -1},
#endif
};
#define CALLS (sizeof calls / sizeof *calls)

static int fail(const char *what) {
    fprintf(stderr, "faults: %s: %s\n", what, strerror(errno));
    return 125;
}

static int install(void) {
    struct sock_filter code[CALLS + 3];
    size_t n = 0;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < CALLS; i++) {
        /* To the last instruction, which asks. */
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, CALLS - i, 0);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    struct sock_fprog program = {.len = n, .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static void hand_over(int socket, int fd) {
    char byte = 0, room[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    sendmsg(socket, &message, 0);
}

static int take_over(int socket) {
    char byte, room[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    int fd = -1;
    if (recvmsg(socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message))
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

static int is_below(const char *path, const char *folder) {
    size_t length = strlen(folder);
    return !strncmp(path, folder, length) && (path[length] == '/' || path[length] == 0);
}

static int fd_is_below(pid_t pid, int fd, const char *folder) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/%d/fd/%d", pid, fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path, folder);
}

/* A path in the memory of the program; relative ones are below its working folder or the file that they start from. */
static int path_is_below(pid_t pid, unsigned long long at, int from, const char *folder) {
    char place[64], path[4096] = "", base[4096] = "", whole[8200];
    snprintf(place, sizeof place, "/proc/%d/mem", pid);
    int memory = open(place, O_RDONLY);
    if (memory < 0) return 0;
    size_t done = 0;
    while (done < sizeof path - 1 && pread(memory, path + done, 1, at + done) == 1 && path[done]) done++;
    path[done] = 0;
    close(memory);
    if (path[0] == '/') return is_below(path, folder);
    if (from == AT_FDCWD) snprintf(place, sizeof place, "/proc/%d/cwd", pid);
    else snprintf(place, sizeof place, "/proc/%d/fd/%d", pid, from);
    ssize_t length = readlink(place, base, sizeof base - 1);
    if (length < 0) return 0;
    base[length] = 0;
    snprintf(whole, sizeof whole, "%s/%s", base, path);
    return is_below(whole, folder);
}

static const struct call *concerned(const struct seccomp_notif *asked, const char *folder) {
    const __u64 *args = asked->data.args;
    pid_t pid = asked->pid;
    for (size_t i = 0; i < CALLS; i++) {
        const struct call *call = &calls[i];
        if (call->number != asked->data.nr) continue;
        if (call->open_flags_at >= 0) {
            int flags = args[call->open_flags_at];
            /* Reading changes nothing. */
            if ((flags & O_ACCMODE) == O_RDONLY && !(flags & O_CREAT)) return NULL;
        }
        int is_one = 0;
        switch (call->how) {
        case FD: is_one = fd_is_below(pid, args[0], folder); break;
        case FD2: is_one = fd_is_below(pid, args[2], folder); break;
        case PATH0: is_one = path_is_below(pid, args[0], AT_FDCWD, folder); break;
        case PATH1: is_one = path_is_below(pid, args[1], args[0], folder); break;
        case PATH01: is_one = path_is_below(pid, args[1], AT_FDCWD, folder); break;
        case PATH13: is_one = path_is_below(pid, args[3], args[2], folder); break;
        }
        return is_one ? call : NULL;
    }
    return NULL;
}

int main(int n_arguments, char **arguments) {
    if (n_arguments < 7) return 125;
    char folder[4096];
    if (!realpath(arguments[1], folder)) return fail(arguments[1]);
    long wanted = atol(arguments[2]);
    int error = atoi(arguments[3]), goes_on = !strcmp(arguments[4], "on");
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets)) return fail("socketpair");
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int listener = install();
        hand_over(sockets[1], listener);
        if (listener < 0) _exit(125);
        close(listener);
        execvp(arguments[6], arguments + 6);
        _exit(127);
    }
    int listener = take_over(sockets[0]);
    if (child < 0 || listener < 0) return fail("seccomp");
    struct seccomp_notif_sizes sizes;
    if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes)) return fail("seccomp");
    struct seccomp_notif *asked = calloc(1, sizes.seccomp_notif);
    struct seccomp_notif_resp *answer = calloc(1, sizes.seccomp_notif_resp);
    long seen = 0;
    char failed[64] = "";
    int status = 0, is_over = 0;
    struct pollfd waiting = {.fd = listener, .events = POLLIN};
    while (!is_over || poll(&waiting, 1, 0) > 0) {
        if (!is_over && waitpid(child, &status, WNOHANG) == child) is_over = 1;
        if (poll(&waiting, 1, 2) <= 0) continue;
        if (waiting.revents & POLLHUP) break;
        memset(asked, 0, sizes.seccomp_notif);
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, asked)) continue;
        memset(answer, 0, sizes.seccomp_notif_resp);
        answer->id = asked->id;
        answer->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        const struct call *call = concerned(asked, folder);
        if (call) {
            seen++;
            if (seen == wanted || (goes_on && seen > wanted)) {
                if (seen == wanted) snprintf(failed, sizeof failed, " %s", call->name);
                answer->flags = 0;
                answer->error = -error;
            }
        }
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, answer);
    }
    if (!is_over) waitpid(child, &status, 0);
    FILE *count = fopen(arguments[5], "w");
    if (!count) return fail(arguments[5]);
    fprintf(count, "%ld%s\n", seen, failed);
    fclose(count);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
