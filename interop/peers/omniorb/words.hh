// Values in words: what arrived, written so that it can be compared with what should have.
#ifndef WORDS_HH
#define WORDS_HH

#include "params.hh"
#include <string>

std::string words(const params::Numbers& v);
std::string words(const char* text);
std::string words(char c);
std::string words(const CORBA::WChar* text);
std::string words(const params::Point& v);
std::string words(const params::Person& v);
std::string words(const params::Line& v);
std::string words(const params::Tree& v);
std::string words(const params::Longs& v);
std::string words(const CORBA::Fixed& v);
std::string words(const params::ByShort& v);
std::string words(const params::ByUShort& v);
std::string words(const params::ByLong& v);
std::string words(const params::ByULong& v);
std::string words(const params::ByLongLong& v);
std::string words(const params::ByULongLong& v);
std::string words(const params::ByBoolean& v);
std::string words(const params::ByHalf& v);
std::string words(const params::ByChar& v);
std::string words(const params::ByColour& v);
std::string bits(CORBA::Float v);
std::string bits(CORBA::Double v);

/** Raises the system exception of that name. */
void raise_system(const char* kind, CORBA::ULong minor, CORBA::ULong completed);

#endif
