# The installed tree: headers, libraries, the CMake package and millwright.pc, all relocatable.
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h"
    PATTERN "mpi.h" EXCLUDE)
install(TARGETS millwright millwright_static EXPORT millwright-targets)
# Libraries beside the core are asked for by name: find_package(millwright COMPONENTS chip view).
foreach(name ${mw_siblings})
    install(TARGETS millwright_${name} millwright_${name}_static EXPORT millwright-${name}-targets)
endforeach()
if(TARGET millwright_e5rt)
    install(TARGETS millwright_e5rt)
endif()

if(TARGET mw)
    install(TARGETS mw)
endif()
if(mw_tool_pages)
    install(FILES ${PROJECT_BINARY_DIR}/mw.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${PROJECT_BINARY_DIR}/mw.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME mw)
    install(FILES ${PROJECT_BINARY_DIR}/_mw DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${PROJECT_BINARY_DIR}/mw.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# The module for Python, which finds the library by its own place.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/python/millwright DESTINATION ${CMAKE_INSTALL_DATADIR}/millwright/python
    FILES_MATCHING PATTERN "*.py")

set(mw_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/millwright)
install(EXPORT millwright-targets NAMESPACE millwright:: DESTINATION ${mw_package_dir})
foreach(name ${mw_siblings})
    install(EXPORT millwright-${name}-targets NAMESPACE millwright:: DESTINATION ${mw_package_dir})
endforeach()
list(JOIN mw_siblings " " mw_sibling_list)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/millwright-config.cmake.in
    ${PROJECT_BINARY_DIR}/millwright-config.cmake INSTALL_DESTINATION ${mw_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/millwright-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/millwright-config.cmake ${PROJECT_BINARY_DIR}/millwright-config-version.cmake
    DESTINATION ${mw_package_dir})

# The prefix of millwright.pc is found from the place of the file itself.
file(RELATIVE_PATH mw_pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" mw_pc_to_prefix "${mw_pc_to_prefix}")
set(mw_pc_requires_private)
if(MW_HAVE_PNG)
    list(APPEND mw_pc_requires_private libpng)
endif()
if(MW_HAVE_JPEG)
    list(APPEND mw_pc_requires_private libjpeg)
endif()
if(MW_HAVE_PROTOBUF)
    list(APPEND mw_pc_requires_private libprotobuf-c)
endif()
list(JOIN mw_pc_requires_private ", " mw_pc_requires_private)
set(mw_pc_libs_private)
if(MW_HAVE_ZLIB) # by name: where zlib belongs to the system it may have no .pc file, without which nothing is answered
    set(mw_pc_libs_private "-lz ")
endif()
string(APPEND mw_pc_libs_private "-lm ${CMAKE_THREAD_LIBS_INIT}")
if(CMAKE_DL_LIBS)
    string(APPEND mw_pc_libs_private " -l${CMAKE_DL_LIBS}")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/millwright.pc.in ${PROJECT_BINARY_DIR}/millwright.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/millwright.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(MW_HAVE_PLIST)
    set(mw_pc_needs_chip libplist-2.0)
endif()
foreach(name ${mw_siblings})
    set(mw_pc_name millwright_${name})
    set(mw_pc_about ${mw_about_${name}})
    set(mw_pc_needs ${mw_pc_needs_${name}})
    configure_file(${PROJECT_SOURCE_DIR}/cmake/sibling.pc.in ${PROJECT_BINARY_DIR}/millwright_${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/millwright_${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# The communicator over MPI is asked for by name, find_package(millwright COMPONENTS mpi), as MPI must then be found.
if(TARGET millwright_mpi)
    install(FILES ${PROJECT_SOURCE_DIR}/include/millwright/mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/millwright)
    install(TARGETS millwright_mpi millwright_mpi_static EXPORT millwright-mpi-targets)
    install(EXPORT millwright-mpi-targets NAMESPACE millwright:: DESTINATION ${mw_package_dir})
    set(mw_pc_mpi_cflags ${MPI_C_INCLUDE_DIRS})
    list(TRANSFORM mw_pc_mpi_cflags PREPEND "-isystem ")
    list(JOIN mw_pc_mpi_cflags " " mw_pc_mpi_cflags)
    list(JOIN MPI_C_LIBRARIES " " mw_pc_mpi_libs)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/millwright_mpi.pc.in ${PROJECT_BINARY_DIR}/millwright_mpi.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/millwright_mpi.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
