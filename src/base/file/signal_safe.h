/* Writes that fail with a reason where the system would end the process: past the limit on file sizes (SIGXFSZ), and
 * into a pipe that nobody reads (SIGPIPE). What the host does with these signals stays as it is. */
#ifndef MW__BASE_FILE_SIGNAL_SAFE_H
#define MW__BASE_FILE_SIGNAL_SAFE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct mw__signal_safe {
    int descriptor;
    int kept; /* macOS: whether the descriptor was quiet before */
    sigset_t mask;
    bool pending[2]; /* before, of SIGPIPE and SIGXFSZ */
} mw__signal_safe;

/* Around a write of `size` bytes at the descriptor's place, by one thread. false, with errno EFBIG, if a file would
 * grow beyond what the process may write; then there is nothing to end. */
bool mw__signal_safe_begin(mw__signal_safe *quiet, int descriptor, size_t size);
/* Keeps errno. */
void mw__signal_safe_end(mw__signal_safe *quiet);

#endif
