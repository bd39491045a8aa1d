/* Descriptors that are none of the standard ones. */
#include "base/file/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int mw__descriptor_above(int descriptor)
{
    if (descriptor < 0 || descriptor > STDERR_FILENO)
        return descriptor;
    const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int why = errno;
    close(descriptor);
    errno = why;
    return moved;
}

FILE *mw__descriptor_stream(const char *path)
{
    const int descriptor = mw__descriptor_above(open(path, O_RDONLY | O_CLOEXEC));
    FILE *stream = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
    if (stream == NULL && descriptor >= 0)
        close(descriptor);
    return stream;
}
