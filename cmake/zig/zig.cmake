# The compiler of the cross-builds, for the target in mw_zig_target.
set(CMAKE_C_COMPILER ${CMAKE_CURRENT_LIST_DIR}/cc -target ${mw_zig_target})
set(CMAKE_AR ${CMAKE_CURRENT_LIST_DIR}/ar CACHE FILEPATH "" FORCE)
set(CMAKE_RANLIB ${CMAKE_CURRENT_LIST_DIR}/ranlib CACHE FILEPATH "" FORCE)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE NEVER)
set(MW_ZLIB OFF CACHE BOOL "" FORCE) # the host's zlib is no library of the target
set(MW_PROTOBUF OFF CACHE BOOL "" FORCE) # nor is its protobuf-c
set(MW_PNG OFF CACHE BOOL "" FORCE) # nor are its libpng ..
set(MW_JPEG OFF CACHE BOOL "" FORCE) # .., libjpeg, ..
set(MW_WEBP OFF CACHE BOOL "" FORCE) # .. libwebp ..
set(MW_SNDFILE OFF CACHE BOOL "" FORCE) # .. and libsndfile
set(MW_PLIST OFF CACHE BOOL "" FORCE) # nor is its libplist
set(MW_UTF8PROC OFF CACHE BOOL "" FORCE) # nor are its libutf8proc ..
set(MW_PCRE2 OFF CACHE BOOL "" FORCE) # .. and libpcre2
set(MW_MPI OFF CACHE BOOL "" FORCE) # nor is its MPI
