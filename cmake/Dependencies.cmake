# Every external package in one place; all are Debian 12 packages (scripts/lib/packages.sh installs them).
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(spdlog 1.10 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(CURL 7.85 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBAV REQUIRED IMPORTED_TARGET libavformat libavcodec libavutil libswresample)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
if(SOTTO_TESTS)
  find_package(GTest REQUIRED)
endif()
if(SOTTO_BENCH)
  find_package(benchmark QUIET)
endif()

# Boost.Asio and Boost.Beast with C++20 coroutines.
add_library(sotto_asio INTERFACE)
target_link_libraries(sotto_asio INTERFACE Boost::headers Threads::Threads)
target_compile_definitions(sotto_asio INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ERROR_CODE_HEADER_ONLY)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 takes the inlined pair of operators of Asio's coroutine frames for a mismatch.
  target_compile_options(sotto_asio INTERFACE -Wno-mismatched-new-delete)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 17)
  # These compilers have coroutines but do not say so in the words that libstdc++ and Asio look for.
  target_compile_definitions(sotto_asio INTERFACE __cpp_impl_coroutine=201902L BOOST_ASIO_HAS_CO_AWAIT
                             BOOST_ASIO_HAS_STD_COROUTINE)
endif()
