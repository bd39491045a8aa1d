#include "runtime/parallel/thread_masks.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The signals that a thread blocks; false if it has gone. */
static bool read_mask(const char *task, unsigned long long *out_mask)
{
    char path[300], line[128];
    bool found = false;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
    FILE *status = fopen(path, "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        found = found || sscanf(line, "SigBlk: %llx", out_mask) == 1;
    if (status != NULL)
        fclose(status);
    return found;
}

static bool is_right_mask(unsigned long long mask)
{
    static const int blocked[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM, SIGCHLD, SIGPIPE, SIGXFSZ},
                     open[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP, SIGPROF};
    bool right = true;
    for (size_t i = 0; i < sizeof blocked / sizeof *blocked; i++)
        right = right && (mask >> (blocked[i] - 1) & 1) == 1;
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        right = right && (mask >> (open[i] - 1) & 1) == 0;
    return right;
}

int masks_count(void)
{
    int count = 0;
    unsigned long long mask = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const int task = atoi(entry->d_name); /* 0 of "." and ".." */
        count += task > 0 && task != (int)getpid() && read_mask(entry->d_name, &mask) && is_right_mask(mask);
    }
    closedir(folder);
    return count;
}
